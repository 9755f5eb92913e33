// Random vectors and configurations, valid and invalid: whatever comes, the readers end, each decision is in one of the
// published categories, its result is JSON with every key, and deciding twice gives the same.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "config/engine_config.h"
#include "config/vectors.h"
#include "report/explain.h"
#include "report/result_json.h"
#include "report/result_text.h"

namespace tent {
namespace {

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::string vector() {
    const std::string surface = pick({"v1", "v1", "v1", "legacy", "cpp", "python", "c"});
    std::string text = "{\"surface\":\"" + surface + "\"";
    maybe(4, text, "mode", pick({"\"strict\"", "\"compat\"", "\"lax\""}));
    maybe(3, text, "tenant", pick({"\"tenant-a\"", "\" TENANT-B \"", "\"\"", "\"nobody\"", "\"a b\""}));
    if (chance(5)) text += ",\"layout\":" + layout();
    return text + ",\"request\":" + request(surface) + "}";
  }

  std::string config() {
    std::string text = "{\"validation_mode\":" + pick({"\"strict\"", "\"compat\"", "\"compat\"", "1"});
    text += ",\"policy\":[";
    const int entries = static_cast<int>(random_() % 4);
    for (int i = 0; i < entries; ++i) text += (i > 0 ? "," : "") + entry();
    text += "]";
    if (chance(2)) {
      text += ",\"qos\":{\"version\":1,\"defaults\":" + contract() +
              ",\"tenants\":[{\"name\":\"Tenant-A\",\"defaults\":" + contract() + ",\"intents\":{\"" +
              pick({"migration", " Foreground_Get ", "unspec", "nothing"}) + "\":" + contract() + "}}]}";
    }
    maybe(3, text, "admission", pick({"{\"expired\":\"reject\"}", "{\"expired\":\"submit\"}", "{}"}));
    maybe(3, text, "staging", pick({"{\"force\":true}", "{\"force\":true,\"chunk_size\":\"64K\"}", "{\"force\":1}"}));
    return text + "}";
  }

  // Spoils a text: some bytes replaced, removed, repeated.
  std::string spoiled(std::string text) {
    for (int i = 0; i < 3 && !text.empty(); ++i) {
      const size_t at = random_() % text.size();
      switch (random_() % 4) {
        case 0: text[at] = static_cast<char>(random_()); break;
        case 1: text.erase(at, 1 + random_() % 9); break;
        case 2: text.insert(at, text.substr(random_() % text.size(), random_() % 9)); break;
        default: text.resize(at); break;
      }
    }
    return text;
  }

  bool chance(uint32_t one_in) { return random_() % one_in == 0; }

 private:
  std::string pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }
  void maybe(uint32_t one_in, std::string& text, const std::string& key, const std::string& value) {
    if (chance(one_in)) text += ",\"" + key + "\":" + value;
  }
  std::string integer() {
    return pick({"0", "1", "2", "3", "4", "7", "12", "13", "-1", "99", "2147483647", "-2147483648", "4294967297", "1.0",
                 "\"1\"", "true"});
  }
  std::string large() {
    return pick({"0", "1", "1000000000", "4096", "2592000000000000", "2592000000000001", "9223372036854775807",
                 "9223372036854775808", "18446744073709551615", "-1", "\"4MiB\"", "\"5ms\""});
  }
  std::string policyName() {
    return pick({"null", "\"\"", "\"bulk\"", "\"fast\"", "\"nobody\"", "\"-x\"", "\"a\\u0000b\"", "\"\\u00e9\"",
                 "\"" + std::string(127, 'n') + "\"", "\"" + std::string(128, 'n') + "\""});
  }
  std::string layout() {
    std::string text =
        "{\"struct_size\":" + pick({"0", "47", "48", "56", "60", "72", "88", "96", "104", "4096", "4104", "70000"});
    maybe(3, text, "entry_stride",
          pick({"0", "47", "80", "88", "89", "96", "4096", "65536", "65544", "18446744073709551615"}));
    maybe(5, text, "schema_version", pick({"0", "1", "2"}));
    maybe(5, text, "entry_schema_version", pick({"0", "1", "2"}));
    maybe(5, text, "reserved0", pick({"0", "1"}));
    maybe(5, text, "reserved_opcode", pick({"0", "4294967295"}));
    maybe(5, text, "misalign", pick({"0", "1", "4", "8"}));
    maybe(3, text, "tail", pick({"\"\"", "\"00\"", "\"0001\"", "\"0\"", "\"zz\""}));
    return text + "}";
  }
  std::string request(const std::string& surface) {
    std::string text = "{\"length\":" + (chance(4) ? large() : "4096");
    maybe(3, text, "opcode", chance(2) ? pick({"\"read\"", "\"write\"", "\"OPCODE_READ\""}) : integer());
    maybe(4, text, "target",
          pick({"{}", "{\"offset\":18446744073709551615}", "{\"memory\":\"cuda:0\"}",
                "{\"type\":\"file\",\"path\":\"/x\"}"}));
    maybe(2, text, "transport_hint",
          chance(2) ? pick({"\"tcp\"", "\"shm\"", "\"rdma\"", "\"gds\"", "\"tpc\""}) : integer());
    if (surface == "legacy") {
      maybe(2, text, "priority", integer());
    } else {
      maybe(2, text, "intent_type",
            chance(2) ? pick({"\"migration\"", "\"FOREGROUND_GET\"", "\"staging_internal\""}) : integer());
      maybe(2, text, "requested_priority", chance(2) ? pick({"\"high\"", "\"low\""}) : integer());
      maybe(3, text, pick({"deadline_ns", "deadline_budget_ns", "deadline_budget"}), large());
      maybe(3, text, "policy_name", policyName());
      maybe(5, text, "flags", pick({"0", "1", "4294967296", "18446744073709551615", "-1"}));
    }
    return text + "}";
  }
  std::string entry() {
    std::string text = "{\"name\":" + pick({"\"bulk\"", "\"fast\"", "\"other\"", "\"\"", "\"third\""});
    text += ",\"transports\":" +
            pick({"[]", "[\"tcp\"]", "[\"shm\",\"tcp\"]", "[\"rdma\",\"nvlink\",\"tcp\"]", "[\"tpc\"]"});
    maybe(4, text, "segment_type", pick({"\"memory\"", "\"file\""}));
    maybe(4, text, "same_machine", pick({"true", "false"}));
    maybe(4, text, "max_size", pick({"\"1MiB\"", "1", "65536"}));
    maybe(4, text, "priority", pick({"\"High\"", "0", "\"2\"", "3"}));
    maybe(4, text, "qp_pool", "\"pool\"");
    maybe(4, text, "devices", pick({"[]", "[\"mlx5_0\"]"}));
    maybe(4, text, "service_level", pick({"3", "15", "16"}));
    return text + "}";
  }
  std::string contract() {
    std::string text = "{\"max_inflight_requests\":" + pick({"1", "64", "\"1\""});
    maybe(2, text, "priority", pick({"\"high\"", "\"MEDIUM\"", "2"}));
    maybe(3, text, "on_unauthorized", pick({"\"reject\"", "\"downgrade\""}));
    maybe(3, text, "allowed_policies", pick({"[]", "[\"bulk\"]", "[\"fast\",\"nobody\"]"}));
    maybe(3, text, "allowed_transports", pick({"[]", "[\"tcp\"]", "[\"shm\",\"rdma\"]"}));
    return text + "}";
  }

  std::mt19937 random_;
};

EngineConfig configOf(Generator& generator) {
  std::string text = generator.config();
  if (generator.chance(4)) text = generator.spoiled(text);
  FaultList faults("config");
  const auto document = parseJson(text, faults);
  if (!document) return {};
  EngineConfig config = readEngineConfig(*document, faults);
  return faults.hasErrors() ? EngineConfig{} : config;
}

std::optional<Vector> vectorOf(Generator& generator) {
  std::string text = generator.vector();
  if (generator.chance(4)) text = generator.spoiled(text);
  FaultList faults("vector");
  const auto value = parseJson(text, faults);
  std::optional<Vector> vector;
  if (value && !faults.hasErrors()) vector = readVector(*value, "", faults, true);
  CHECK(vector.has_value() != faults.hasErrors());
  return vector;
}

constexpr std::string_view kKeys[] = {"name",       "index",     "status", "requested",
                                      "downgrades", "effective", "plan",   "error"};

void checkResult(const Vector& vector, const ExplainContext& context, const Redactor& redactor) {
  const Result result = explain(vector, {}, context);
  std::string text;
  JsonWriter json(text);
  writeResult(json, result, redactor);
  FaultList faults("result");
  const auto parsed = parseJson(text, faults);
  REQUIRE_MESSAGE(parsed, text);
  REQUIRE(parsed->members.size() == std::size(kKeys));
  for (size_t i = 0; i < std::size(kKeys); ++i) CHECK(parsed->members[i].key == kKeys[i]);
  const Category category = categoryOf(result.decision.error.reason);
  CHECK_FALSE(nameOf(category).empty());
  CHECK(parsed->find("status")->string == nameOf(category));
  CHECK((parsed->find("error")->kind == JsonValue::Kind::kNull) == (category == Category::kOk));
  CHECK((parsed->find("plan")->kind == JsonValue::Kind::kNull) == (category != Category::kOk));

  std::string again;
  JsonWriter json_again(again);
  writeResult(json_again, explain(vector, {}, context), redactor);
  CHECK(again == text);
  std::string page;
  appendText(page, result, context, redactor, {true, true});
  CHECK(page.size() > 20);
}

TEST_CASE("random vectors under random configurations are decided within the published categories") {
  Generator generator(20261130);
  const Environment environment = referenceEnvironment();
  const Redactor redactor(Redaction::kDefault);
  size_t decided = 0;
  for (int round = 0; round < 200; ++round) {
    const EngineConfig config = configOf(generator);
    const ExplainContext context{config, environment, {}, {}, 1'000'000'000, 0};
    for (int i = 0; i < 30; ++i) {
      if (const auto vector = vectorOf(generator)) {
        ++decided;
        checkResult(*vector, context, redactor);
      }
    }
  }
  CHECK(decided > 1000);  // the generator must not make only faults
}

}  // namespace
}  // namespace tent
