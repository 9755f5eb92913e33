#include <doctest/doctest.h>

#include <filesystem>

#include "reading.h"

using namespace tent;
using namespace tent::test;

TEST_CASE("configurations of the deployed kind load without an error") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TENT_CORPUS "/configs")) {
    CAPTURE(entry.path().string());
    const auto reading = readConfig(contentOf(entry.path().string()));
    CHECK_FALSE(reading.faults.hasErrors());
    ++files;
  }
  CHECK(files >= 5);
}

TEST_CASE("of the full RDMA deployment everything arrives") {
  const auto reading = readConfig(contentOf(TENT_CORPUS "/configs/h20-rdma.json"));
  REQUIRE(reading.value);
  REQUIRE(reading.faults.faults().size() == 1);
  const std::string& warning = reading.faults.faults()[0].message;
  CHECK(warning.find("/metadata_servers, /metrics/enabled, ") != std::string::npos);
  CHECK(warning.find("/transports/rdma/workers/max_retry_count") != std::string::npos);
  const PolicySet& policies = reading.value->policies;
  CHECK(policies.qp_pools.size() == 3);
  REQUIRE(policies.transport_policies.size() == 5);
  CHECK(policies.transport_policies[1].priority == Priority::kHigh);
  CHECK(policies.transport_policies[2].intent_type == IntentType::kBackgroundPrefetch);
  CHECK(policies.transport_policies[4].name == "policy[4]");
  CHECK(policies.contracts.of(PolicyName("inference"))[1].priority.value == Priority::kHigh);
}
