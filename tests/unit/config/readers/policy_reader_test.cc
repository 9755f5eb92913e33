#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

Reading<EngineConfig> readEntries(std::string_view entries) {
  return readConfig(fmt::format(R"({{"policy": [{}],
    "transports": {{"rdma": {{"endpoint": {{"qp_pools": [
      {{"name": "fast", "service_level": 3, "traffic_class": 96}}, {{"name": "plain"}}]}}}}}}}})",
                                entries));
}

}  // namespace

TEST_CASE("an entry that says nothing matches every memory transfer and is named by its place") {
  const auto reading = readEntries(R"({"name": "a"}, {})");
  REQUIRE(reading.clean());
  const TransportPolicy& policy = reading.value->policies.transport_policies[1];
  CHECK(policy.name == "policy[1]");
  CHECK(policy.segment_type == SegmentType::kMemory);
  CHECK_FALSE(policy.same_machine);
  CHECK(policy.local_memory == MemoryPattern::kAny);
  CHECK(policy.remote_memory == MemoryPattern::kAny);
  CHECK_FALSE(policy.min_size);
  CHECK_FALSE(policy.priority);
  CHECK_FALSE(policy.intent_type);
  CHECK(policy.devices.empty());
  CHECK(policy.transports.empty());
}

TEST_CASE("an entry arrives as it was written") {
  const auto reading = readEntries(R"({
    "name": "any name at all", "segment_type": "file", "same_machine": false, "local_memory": "cuda",
    "remote_memory": "cpu", "min_size": "4KiB", "max_size": 4096, "priority": "LOW", "intent_type": "checkpoint",
    "devices": ["mlx5_1", "mlx5_0"], "transports": ["tcp", "nvlink"], "qp_pool": "fast", "service_level": 3,
    "traffic_class": 96})");
  CHECK(reading.lines() == std::vector<std::string>{});
  REQUIRE(reading.clean());
  const TransportPolicy& policy = reading.value->policies.transport_policies[0];
  CHECK(policy.name == "any name at all");
  CHECK(policy.segment_type == SegmentType::kFile);
  CHECK(policy.same_machine == false);
  CHECK(policy.local_memory == MemoryPattern::kCuda);
  CHECK(policy.remote_memory == MemoryPattern::kCpu);
  CHECK(policy.min_size == 4096);
  CHECK(policy.max_size == 4096);
  CHECK(policy.priority == Priority::kLow);
  CHECK(policy.intent_type == IntentType::kCheckpoint);
  CHECK(policy.devices == std::vector<std::string>{"mlx5_1", "mlx5_0"});
  CHECK(policy.transports == TransportList{Transport::kTcp, Transport::kNvlink});
  CHECK(policy.qp_pool == "fast");
  CHECK(policy.service_level == 3);
  CHECK(policy.traffic_class == 96);
}

TEST_CASE("priorities of configurations are names in any case, 0 to 2, or these as text") {
  const struct {
    const char* text;
    Priority priority;
  } kGood[] = {{R"("high")", Priority::kHigh}, {R"("Medium")", Priority::kMedium},
               {R"("LOW")", Priority::kLow},   {"0", Priority::kHigh},
               {"2", Priority::kLow},          {R"("1")", Priority::kMedium}};
  for (const auto& good : kGood) {
    CAPTURE(good.text);
    const auto reading = readEntries(fmt::format(R"({{"priority": {}}})", good.text));
    REQUIRE(reading.clean());
    CHECK(reading.value->policies.transport_policies[0].priority == good.priority);
  }
  for (const char* bad : {"3", "-1", "1.0", R"("3")", R"("")", R"(" high")", R"("unspec")", "true", "null", "[]"}) {
    CAPTURE(bad);
    CHECK(readEntries(fmt::format(R"({{"priority": {}}})", bad)).faults.errorCount() == 1);
  }
}

TEST_CASE("intents of policies are exact names or numbers") {
  for (const char* good : {R"("unspec")", R"("staging_internal")", "0", "6"}) {
    CAPTURE(good);
    CHECK(readEntries(fmt::format(R"({{"intent_type": {}}})", good)).clean());
  }
  for (const char* bad : {"7", "-1", R"("1")", R"("Foreground_Get")", "1.0", "null", "18446744073709551615"}) {
    CAPTURE(bad);
    CHECK(readEntries(fmt::format(R"({{"intent_type": {}}})", bad)).faults.errorCount() == 1);
  }
}

TEST_CASE("a name is there once for one type of segment, given or not") {
  CHECK(readEntries(R"({"name": "a"}, {"name": "a", "segment_type": "file"})").clean());
  CHECK(readEntries(R"({"name": "a"}, {"name": "a"})").onlyFault("/policy/1/name", "twice"));
  CHECK(readEntries(R"({"name": "policy[1]"}, {})").onlyFault("/policy/1", "twice"));
  CHECK(readEntries(R"({"name": ""})").onlyFault("/policy/0/name", "empty"));
}

TEST_CASE("a pool that is not declared is a warning at its place") {
  const auto reading = readEntries(R"({"qp_pool": "fsat"})");
  CHECK(reading.onlyWarning("/policy/0/qp_pool", "qp_pool_missing"));
  CHECK(reading.value->policies.transport_policies[0].qp_pool == "fsat");
}

TEST_CASE("an entry may repeat the values of its pool but not contradict them") {
  CHECK(readEntries(R"({"qp_pool": "fast", "service_level": 3, "traffic_class": 96})").clean());
  CHECK(readEntries(R"({"qp_pool": "plain", "service_level": 7})").clean());
  CHECK(readEntries(R"({"qp_pool": "fast", "service_level": 4})").onlyFault("/policy/0/service_level", "which has 3"));
  CHECK(readEntries(R"({"qp_pool": "fast", "traffic_class": 0})").onlyFault("/policy/0/traffic_class", "which has 96"));
}

TEST_CASE("pools are found wherever they stand in the file") {
  CHECK_FALSE(readConfig(R"({"policy": [{"qp_pool": "p"}],
                             "transports": {"rdma": {"endpoint": {"qp_pools": [{"name": "p"}]}}}})")
                  .faults.warningCount());
}

TEST_CASE("sizes that nothing can lie between are an error") {
  CHECK(readEntries(R"({"min_size": 2, "max_size": 1})").onlyFault("/policy/0/min_size", "nothing can match"));
}

TEST_CASE("transports of an entry are known ones, each once") {
  CHECK(readEntries(R"({"transports": []})").clean());
  CHECK(readEntries(R"({"transports": ["mpcomm", "ub", "tpu", "sunrise_link", "ascend"]})").clean());
  CHECK(readEntries(R"({"transports": ["unspec"]})").onlyFault("/policy/0/transports/0", "unknown transport"));
  CHECK(readEntries(R"({"transports": ["TCP"]})").onlyFault("/policy/0/transports/0", "did you mean \"tcp\""));
  CHECK(readEntries(R"({"transports": ["tcp", "tcp"]})").onlyFault("/policy/0/transports/1", "twice"));
  CHECK(readEntries(R"({"transports": [1]})").onlyFault("/policy/0/transports/0", "a string"));
}
