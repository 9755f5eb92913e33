#include "report/expectation.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

JsonValue json(std::string_view text) {
  FaultList faults("text");
  auto value = parseJson(text, faults);
  REQUIRE(value);
  return *value;
}

constexpr std::string_view kResult = R"({
  "name": "v", "status": "ok", "requested": {"length": 4096, "policy_name": null},
  "downgrades": [{"field": "flags", "from": 1, "reason": "flags_ignored"}, {"field": "intent_type", "from": 9, "reason": "unknown_intent_type"}],
  "effective": {"authorized_transports": ["shm", "tcp"], "degraded_actions": []},
  "plan": {"rejected": [{"backend": "rdma", "reason": "device_missing"}]},
  "error": null})";

bool met(std::string_view expect, std::string_view result = kResult) {
  return unmetExpectations(json(expect), json(result)).empty();
}

TEST_CASE("an expectation looks only at the keys that it names, recursively") {
  CHECK(met("{}"));
  CHECK(met(R"({"status": "ok", "requested": {"length": 4096}})"));
  CHECK(met(R"({"requested": {"length": 4096.0}})"));
  CHECK_FALSE(met(R"({"requested": {"length": 4097}})"));
  CHECK_FALSE(met(R"({"requested": {"no_such_key": 1}})"));
}

TEST_CASE("an absent status means ok") {
  constexpr std::string_view kRejected =
      R"({"status": "invalid_enum", "error": {"reason": "unknown_opcode", "field": "opcode"}})";
  CHECK_FALSE(met("{}", kRejected));
  CHECK(met(R"({"status": "invalid_enum"})", kRejected));
}

TEST_CASE("reason and field stand for those of the error") {
  constexpr std::string_view kRejected =
      R"({"status": "invalid_enum", "error": {"reason": "unknown_opcode", "field": "opcode"}})";
  CHECK(met(R"({"status": "invalid_enum", "reason": "unknown_opcode", "field": "opcode"})", kRejected));
  CHECK_FALSE(met(R"({"status": "invalid_enum", "reason": "unknown_priority"})", kRejected));
  CHECK_FALSE(met(R"({"reason": "unknown_opcode"})"));
}

TEST_CASE("arrays are equal in length and order") {
  CHECK(met(R"({"effective": {"authorized_transports": ["shm", "tcp"]}})"));
  CHECK_FALSE(met(R"({"effective": {"authorized_transports": ["tcp", "shm"]}})"));
  CHECK_FALSE(met(R"({"effective": {"authorized_transports": ["shm"]}})"));
}

TEST_CASE("downgrades and rejected are sets of partial objects of the same number") {
  CHECK(met(R"({"downgrades": [{"reason": "unknown_intent_type"}, {"field": "flags"}]})"));
  CHECK(met(R"({"downgrades": [{}, {"field": "flags"}]})"));
  CHECK(met(R"({"downgrades": [{"field": "intent_type"}, {}]})"));
  CHECK_FALSE(met(R"({"downgrades": [{"field": "flags"}]})"));
  CHECK_FALSE(met(R"({"downgrades": [{"field": "flags"}, {"field": "flags"}]})"));
  CHECK(met(R"({"plan": {"rejected": [{"backend": "rdma"}]}})"));
  CHECK_FALSE(met(R"({"plan": {"rejected": []}})"));
}

TEST_CASE("null matches only null, and nothing else matches null") {
  CHECK(met(R"({"requested": {"policy_name": null}, "error": null})"));
  CHECK_FALSE(met(R"({"effective": {"degraded_actions": null}})"));
  CHECK_FALSE(met(R"({"requested": {"policy_name": ""}})"));
  CHECK_FALSE(met(R"({"plan": null})"));
}

TEST_CASE("differences name each place once, with both sides") {
  const auto differences =
      differencesOf(json(R"({"a": 1, "b": {"c": [1, 2]}, "d": 0})"), json(R"({"a": 1, "b": {"c": [2]}, "e": 0})"));
  REQUIRE(differences.size() == 3);
  CHECK(differences[0].pointer == "/b/c");
  CHECK(differences[0].expected == "[1,2]");
  CHECK(differences[0].actual == "[2]");
  CHECK(differences[1].pointer == "/d");
  CHECK(differences[1].actual.empty());
  CHECK(differences[2].pointer == "/e");
}

}  // namespace
}  // namespace tent
