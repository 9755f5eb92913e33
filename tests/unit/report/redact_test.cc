#include "report/redact.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

std::string shown(const Redactor& redactor, std::string_view gid) {
  return toString(redactor.gid(*parseGid(gid)));
}

TEST_CASE("by default names are shown and the host bits of addresses are not") {
  const Redactor redactor(Redaction::kDefault);
  CHECK(redactor.tenant("tenant-a") == "tenant-a");
  CHECK(shown(redactor, "::ffff:10.1.2.3") == "::ffff:10.1.2.0");
  CHECK(shown(redactor, "2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::");
}

TEST_CASE("strict replaces names consistently within a run, and differently in each") {
  const Redactor one(Redaction::kStrict);
  const Redactor other(Redaction::kStrict);
  CHECK(one.tenant("a") == one.tenant("a"));
  CHECK(one.tenant("a") != one.tenant("b"));
  CHECK(one.tenant("a") != one.policy("a"));
  CHECK(one.tenant("a") != other.tenant("a"));
  CHECK(one.tenant("secret-name").find("secret") == std::string::npos);
  CHECK(one.matchedPolicy("a.b.checkpoint") == one.tenant("a.b") + ".checkpoint");
  CHECK(one.matchedPolicy("global_default") == "global_default");
}

TEST_CASE("no level changes the class of an address, so that plans stay the same") {
  for (Redaction level : {Redaction::kDefault, Redaction::kStrict, Redaction::kNone}) {
    const Redactor redactor(level);
    for (const char* text : {"::ffff:10.1.2.3", "fe80::1234", "2001:db8::1", "::"}) {
      const GidAddress address = *parseGid(text);
      CHECK(classOf(redactor.gid(address)) == classOf(address));
    }
  }
}

TEST_CASE("strict shows no policy name and no device in an error") {
  const Redactor redactor(Redaction::kStrict);
  const Error error{Reason::kPolicyUnknown, Field::kPolicyName, 0, std::string("secret-policy"), {}};
  CHECK(std::holds_alternative<std::monostate>(redactor.value(error)));
  CHECK(redactor.message(error).find("secret") == std::string::npos);
  const Rejected rejected{Transport::kRdma, RejectReason::kDeviceMissing, "it lacks secret_0"};
  CHECK(redactor.message(rejected).find("secret") == std::string::npos);
}

TEST_CASE("device names in a sentence are replaced as whole words") {
  Environment environment = referenceEnvironment();
  Nic nic;
  nic.name = "mlx5_1";
  environment.local.nics = {nic};
  const Redactor strict(Redaction::kStrict);
  const std::string text = strict.sentence("mlx5_1 gid 3, mlx5_10 (mlx5_1)", environment);
  CHECK(text == strict.device("mlx5_1") + " gid 3, mlx5_10 (" + strict.device("mlx5_1") + ")");
  const Redactor by_default(Redaction::kDefault);
  CHECK(by_default.sentence("mlx5_1 gid 3 (RoCE v2 10.1.2.0), fe80::1, 2001:db8:1:2::", environment) ==
        "mlx5_1 gid 3 (RoCE v2 10.1.2.x), fe80::/64, 2001:db8:1:2::/64");
}

}  // namespace
}  // namespace tent
