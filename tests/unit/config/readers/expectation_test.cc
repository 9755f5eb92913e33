#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

Reading<Vector> readExpect(std::string_view expect) {
  return readLine(fmt::format(R"({{"request": {{"length": 1}}, "expect": {}}})", expect));
}

}  // namespace

TEST_CASE("an expectation of any part of a result is kept as it was written") {
  const auto reading = readExpect(R"({
    "name": "a", "index": 0, "status": "ok", "reason": null, "field": null,
    "requested": {"surface": "v1", "schema_version": 1, "opcode": "read", "length": 1, "intent_type": "unspec",
      "requested_priority": "high", "deadline": {"state": "none", "deadline_ns": null, "remaining_ns": null},
      "policy_name": null, "transport_hint": "unspec", "flags": 18446744073709551615},
    "downgrades": [{"field": "flags", "from": 1, "to": 0, "reason": "flags_ignored"}, {}],
    "effective": {"tenant": "a", "intent_type": "unspec", "priority": "high", "matched_policy": "x",
      "transport_policy": null, "authorized_transports": ["tcp"], "qp_pool": null, "service_level": 1,
      "traffic_class": 2, "devices": [], "max_inflight_bytes": null, "max_inflight_requests": 1,
      "degraded_actions": null, "admission": "submit"},
    "plan": {"schema_version": 1, "path_kind": "direct", "role": "primary", "transport_policy": null,
      "stages": [{"type": "transfer", "backend": "tcp", "local_device": null, "remote_device": null, "qp_pool": null,
                  "service_level": null, "traffic_class": null, "bytes": 1, "slice_bytes": 1, "slices": 1}],
      "fallbacks": [], "rejected": [{"backend": "shm", "reason": "not_built", "message": "m"}]},
    "error": null, "execution": {"anything": [{}]}
  })");
  CHECK(reading.lines() == std::vector<std::string>{});
  REQUIRE(reading.clean());
  REQUIRE(reading.value->expect);
  CHECK(reading.value->expect->find("requested")->find("flags")->unsigned_integer == UINT64_MAX);
  CHECK(readExpect("{}").clean());
}

TEST_CASE("every category, reason and field may be expected") {
  for (int32_t code = 0; code >= -12; --code) {
    CHECK(readExpect(fmt::format(R"({{"status": "{}"}})", nameOf(static_cast<Category>(code)))).clean());
  }
  for (int reason = 1; reason < kReasonCount; ++reason) {
    CHECK(readExpect(fmt::format(R"({{"reason": "{}"}})", nameOf(static_cast<Reason>(reason)))).clean());
  }
  CHECK(readExpect(R"({"field": "engine"})").clean());
  CHECK(readExpect(R"({"field": "notification"})").clean());
}

TEST_CASE("a misspelt expectation does not pass in silence") {
  CHECK(readExpect(R"({"statsu": "ok"})").onlyFault("/expect/statsu", "did you mean \"status\""));
  CHECK(readExpect(R"({"status": "invalid_enums"})").onlyFault("/expect/status", "did you mean \"invalid_enum\""));
  CHECK(readExpect(R"({"status": 0})").onlyFault("/expect/status", "a string"));
  CHECK(readExpect(R"({"reason": ""})").onlyFault("/expect/reason", "unknown reason"));
  CHECK(readExpect(R"({"field": "deadline"})").onlyFault("/expect/field", "unknown field"));
  CHECK(readExpect(R"({"plan": {"rejected": [{"transport": "shm"}]}})")
            .onlyFault("/expect/plan/rejected/0/transport", "no key"));
  CHECK(readExpect(R"({"error": {"rejected": [{"transport": "shm"}]}})")
            .onlyFault("/expect/error/rejected/0/transport", "no key"));
  CHECK(readExpect(R"({"requested": {"deadline": 5}})").onlyFault("/expect/requested/deadline", "an object"));
  CHECK(readExpect(R"({"downgrades": {}})").onlyFault("/expect/downgrades", "an array"));
  CHECK(readExpect(R"({"effective": {"priority": ["high"]}})").onlyFault("/expect/effective/priority", "single value"));
  CHECK(readExpect(R"({"plan": {"fallbacks": [["tcp"]]}})").onlyFault("/expect/plan/fallbacks/0", "single value"));
  CHECK(readExpect(R"("ok")").onlyFault("/expect", "an object"));
}
