#include "policy/transport_policy.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

TransferShape hostShape(uint64_t length) {
  TransferShape shape;
  shape.length = length;
  return shape;
}

TransportPolicy named(std::string name) {
  TransportPolicy policy;
  policy.name = std::move(name);
  return policy;
}

bool matchesOne(const TransportPolicy& policy, const TransferShape& shape, Priority priority = Priority::kHigh,
                IntentType intent = IntentType::kUnspec) {
  return selectTransportPolicy({policy}, shape, priority, intent) != nullptr;
}

TEST_CASE("the first entry that matches counts") {
  TransportPolicy large = named("large");
  large.min_size = 1024;
  const std::vector<TransportPolicy> policies = {large, named("first"), named("second")};
  CHECK(selectTransportPolicy(policies, hostShape(1023), Priority::kHigh, IntentType::kUnspec)->name == "first");
  CHECK(selectTransportPolicy(policies, hostShape(1024), Priority::kHigh, IntentType::kUnspec)->name == "large");
}

TEST_CASE("both ends of a size range belong to it") {
  TransportPolicy policy = named("p");
  policy.min_size = 10;
  policy.max_size = 20;
  CHECK_FALSE(matchesOne(policy, hostShape(9)));
  CHECK(matchesOne(policy, hostShape(10)));
  CHECK(matchesOne(policy, hostShape(20)));
  CHECK_FALSE(matchesOne(policy, hostShape(21)));
}

TEST_CASE("intent unspec in an entry matches only unspec, an absent one all") {
  TransportPolicy policy = named("p");
  CHECK(matchesOne(policy, hostShape(1), Priority::kHigh, IntentType::kMigration));
  policy.intent_type = IntentType::kUnspec;
  CHECK(matchesOne(policy, hostShape(1)));
  CHECK_FALSE(matchesOne(policy, hostShape(1), Priority::kHigh, IntentType::kMigration));
}

TEST_CASE("priority, machine, memories and segment type are all looked at") {
  TransportPolicy policy = named("p");
  policy.priority = Priority::kMedium;
  CHECK(matchesOne(policy, hostShape(1), Priority::kMedium));
  CHECK_FALSE(matchesOne(policy, hostShape(1), Priority::kHigh));
  policy = named("p");
  policy.same_machine = false;
  CHECK_FALSE(matchesOne(policy, hostShape(1)));
  TransferShape remote = hostShape(1);
  remote.same_machine = false;
  CHECK(matchesOne(policy, remote));
  policy = named("p");
  policy.local_memory = MemoryPattern::kCuda;
  CHECK_FALSE(matchesOne(policy, hostShape(1)));
  TransferShape gpu = hostShape(1);
  gpu.local_memory = {MemoryKind::kCuda, 3};
  CHECK(matchesOne(policy, gpu));
  policy.remote_memory = MemoryPattern::kCuda;
  CHECK_FALSE(matchesOne(policy, gpu));
  policy = named("p");
  policy.segment_type = SegmentType::kFile;
  CHECK_FALSE(matchesOne(policy, hostShape(1)));
}

TEST_CASE("a name selects for its segment type alone") {
  TransportPolicy file = named("same");
  file.segment_type = SegmentType::kFile;
  const std::vector<TransportPolicy> policies = {file, named("other")};
  CHECK(findTransportPolicy(policies, SegmentType::kFile, "same") == &policies[0]);
  CHECK(findTransportPolicy(policies, SegmentType::kMemory, "same") == nullptr);
  CHECK(findTransportPolicy(policies, SegmentType::kMemory, "oth") == nullptr);
}

}  // namespace
}  // namespace tent
