#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

Reading<Vector> readRequest(std::string_view fields, std::string_view surface = "v1") {
  return readLine(fmt::format(R"({{"surface": "{}", "request": {{"length": 1, {}}}}})", surface, fields));
}

}  // namespace

TEST_CASE("only the length is required of a request") {
  const auto reading = readLine(R"({"request": {"length": "4MiB"}})");
  REQUIRE(reading.clean());
  const Vector& vector = *reading.value;
  CHECK(vector.fields.length == 4194304);
  CHECK(vector.fields.opcode == 0);
  CHECK(vector.fields.has_source);
  CHECK(vector.fields.deadline.kind == DeadlineInput::Kind::kAbsolute);
  CHECK(vector.fields.deadline.ns == 0);
  CHECK_FALSE(vector.policy_name);
  CHECK(vector.target_segment.empty());
  CHECK(toString(vector.target_memory) == "cpu");
  CHECK(vector.target_registration == Registration::kApplication);
  CHECK(readLine(R"({"request": {}})").onlyFault("/request", "\"length\" is missing"));
}

TEST_CASE("a request arrives as it was written") {
  const auto reading = readRequest(R"("opcode": "write", "length": 0)", "cpp");
  CHECK(reading.faults.hasErrors());  // length is there twice
  const auto whole = readLine(R"({"surface": "python", "request": {
    "opcode": "write", "length": 0, "intent_type": "migration", "requested_priority": "low", "deadline_budget": "5ms",
    "policy_name": "any\u0000 text", "transport_hint": "io_uring", "flags": 18446744073709551615,
    "source": {"memory": "cuda:3", "registration": "allocated"},
    "target": {"segment": "node-b", "memory": "cpu:1", "offset": "1K", "registration": "allocated"}}})");
  CHECK(whole.lines() == std::vector<std::string>{});
  REQUIRE(whole.clean());
  const Vector& vector = *whole.value;
  CHECK(vector.fields.surface == Surface::kPython);
  CHECK(vector.fields.opcode == 1);
  CHECK(vector.fields.length == 0);
  CHECK(vector.fields.intent_type == 3);
  CHECK(vector.fields.priority == 3);
  CHECK(vector.fields.deadline.kind == DeadlineInput::Kind::kBudget);
  CHECK(vector.fields.deadline.ns == 5'000'000);
  CHECK(vector.policy_name == std::string("any\0 text", 9));
  CHECK(vector.fields.transport_hint == 6);
  CHECK(vector.fields.flags == UINT64_MAX);
  CHECK(toString(vector.source_memory) == "cuda:3");
  CHECK(vector.source_registration == Registration::kAllocated);
  CHECK(vector.target_segment == "node-b");
  CHECK(toString(vector.target_memory) == "cpu:1");
  CHECK(vector.fields.target_offset == 1024);
  CHECK(vector.target_registration == Registration::kAllocated);
}

TEST_CASE("values are names, constants, or any integer of 32 bits") {
  const struct {
    const char* text;
    int32_t number;
  } kGood[] = {{R"("foreground_get")", 1},
               {R"("FOREGROUND_GET")", 1},
               {R"("TENT_INTENT_MIGRATION")", 3},
               {R"("INTENT_UNSPEC")", 0},
               {"99", 99},
               {"-2147483648", INT32_MIN},
               {"2147483647", INT32_MAX}};
  for (const auto& good : kGood) {
    CAPTURE(good.text);
    const auto reading = readRequest(fmt::format(R"("intent_type": {})", good.text));
    REQUIRE(reading.clean());
    CHECK(reading.value->fields.intent_type == good.number);
  }
  CHECK(readRequest(R"("requested_priority": "TENT_PRIORITY_HIGH")").value->fields.priority == 1);
  CHECK(readRequest(R"("transport_hint": "TRANSPORT_IOURING")").value->fields.transport_hint == 6);
  for (const char* bad : {R"("foreground")", R"("1")", R"("")", R"(" unspec")", "1.0", "true", "null", "4294967297",
                          "2147483648", "-2147483649", "[]", "{}"}) {
    for (const char* key : {"opcode", "intent_type", "requested_priority", "transport_hint"}) {
      CAPTURE(key);
      CAPTURE(bad);
      const auto reading = readRequest(fmt::format(R"("{}": {})", key, bad));
      CHECK_FALSE(reading.value);
      CHECK(reading.faults.errorCount() == 1);
      CHECK(reading.faults.faults()[0].pointer == fmt::format("/request/{}", key));
    }
  }
  CHECK(readRequest(R"("transport_hint": "rmda")").onlyFault("/request/transport_hint", "did you mean \"rdma\""));
}

TEST_CASE("a request has one deadline") {
  CHECK(readRequest(R"("deadline_budget_ns": 18446744073709551615)").value->fields.deadline.ns == UINT64_MAX);
  CHECK(readRequest(R"("deadline_budget": "0ns")").value->fields.deadline.kind == DeadlineInput::Kind::kBudget);
  CHECK(readRequest(R"("deadline_budget": "5ms", "deadline_budget_ns": 5)")
            .onlyFault("/request/deadline_budget_ns", "one deadline"));
  CHECK(readRequest(R"("deadline_budget": 5)").onlyFault("/request/deadline_budget", "a string"));
  CHECK(readRequest(R"("deadline_budget": "5")").onlyFault("/request/deadline_budget", "no unit"));
  CHECK(readRequest(R"("deadline_budget_ns": -1)").faults.errorCount() == 1);
}

TEST_CASE("an absolute deadline needs a pinned clock, even when it is 0") {
  for (const char* deadline : {"0", "5"}) {
    const std::string line = fmt::format(R"({{"request": {{"length": 1, "deadline_ns": {}}}}})", deadline);
    CHECK(readLine(line).onlyFault("/request/deadline_ns", "pinned clock"));
    const auto pinned = readLine(line, true);
    REQUIRE(pinned.clean());
    CHECK(pinned.value->fields.deadline.kind == DeadlineInput::Kind::kAbsolute);
  }
  CHECK(readVectors(R"({"schema_version": 1, "vectors": [{"request": {"length": 1, "deadline_ns": 5}}],
                        "clock": {"now_ns": 1}})")
            .clean());
}

TEST_CASE("a policy name may be null, which is none, or any text") {
  CHECK_FALSE(readRequest(R"("policy_name": null)").value->policy_name);
  CHECK(readRequest(R"("policy_name": "")").value->policy_name == "");
  CHECK(readRequest(R"("policy_name": 1)").onlyFault("/request/policy_name", "string"));
}

TEST_CASE("null is for policy names alone") {
  for (const char* key : {"opcode", "length", "source", "target", "intent_type", "deadline_budget", "flags"}) {
    CAPTURE(key);
    const auto reading = readLine(fmt::format(R"({{"request": {{{} "{}": null}}}})",
                                              std::string_view(key) == "length" ? "" : R"("length": 1,)", key));
    CHECK(reading.faults.errorCount() == 1);
  }
}

TEST_CASE("the legacy surface has a priority and no intent") {
  const auto reading =
      readRequest(R"("opcode": 7, "priority": -5, "transport_hint": 99, "policy_name": null)", "legacy");
  CHECK(reading.lines() == std::vector<std::string>{});
  REQUIRE(reading.clean());
  CHECK(reading.value->fields.priority == -5);
  CHECK(reading.value->fields.transport_hint == 99);
  CHECK(readRequest(R"("priority": "low")", "legacy").value->fields.priority == 2);
  CHECK(readRequest(R"("opcode": 0)", "legacy").value->fields.priority == 0);
  CHECK(readRequest(R"("priority": "unspec")", "legacy").onlyFault("/request/priority", "unknown priority"));
  for (const char* field :
       {R"("intent_type": 0)", R"("requested_priority": 0)", R"("deadline_budget": "1ms")",
        R"("deadline_budget_ns": 1)", R"("deadline_ns": 0)", R"("policy_name": "a")", R"("flags": 0)"}) {
    CAPTURE(field);
    const auto refused = readRequest(field, "legacy");
    CHECK(refused.faults.errorCount() == 1);
    CHECK(refused.faults.faults()[0].message.find("legacy surface has no") != std::string::npos);
  }
  CHECK(readRequest(R"("priority": 1)").onlyFault("/request/priority", "requested_priority"));
}

TEST_CASE("a file target has a path, and no other has") {
  const auto reading = readRequest(R"("target": {"type": "file", "path": "/data/a", "offset": 9})");
  REQUIRE(reading.clean());
  CHECK(reading.value->target_type == SegmentType::kFile);
  CHECK(reading.value->target_path == "/data/a");
  CHECK(reading.value->fields.target_offset == 9);
  CHECK(readRequest(R"("target": {"type": "file"})").onlyFault("/request/target", "\"path\" is missing"));
  CHECK(readRequest(R"("target": {"path": "/a"})").onlyFault("/request/target/path", "only a target"));
  CHECK(
      readRequest(R"("target": {"type": "memory", "path": "/a"})").onlyFault("/request/target/path", "only a target"));
}

TEST_CASE("misspelt keys of a request are refused") {
  CHECK(
      readRequest(R"("transport_hnt": "rdma")").onlyFault("/request/transport_hnt", "did you mean \"transport_hint\""));
  CHECK(readRequest(R"("source": {"mem": "cpu"})").onlyFault("/request/source/mem", "unknown key"));
  CHECK(readRequest(R"("target": {"memory": "gpu"})").onlyFault("/request/target/memory", "is no memory"));
}
