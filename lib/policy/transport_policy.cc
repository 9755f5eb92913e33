#include "policy/transport_policy.h"

#include <algorithm>

namespace tent {
namespace {

bool matches(const TransportPolicy& policy, const TransferShape& shape, Priority effective_priority,
             IntentType intent_type) {
  return policy.segment_type == shape.segment_type &&
         policy.same_machine.value_or(shape.same_machine) == shape.same_machine &&
         matches(policy.local_memory, shape.local_memory.kind) &&
         matches(policy.remote_memory, shape.remote_memory.kind) && policy.min_size.value_or(0) <= shape.length &&
         shape.length <= policy.max_size.value_or(shape.length) &&
         policy.priority.value_or(effective_priority) == effective_priority &&
         policy.intent_type.value_or(intent_type) == intent_type;
}

const TransportPolicy* addressOrNull(const std::vector<TransportPolicy>& policies,
                                     std::vector<TransportPolicy>::const_iterator it) {
  return it == policies.end() ? nullptr : &*it;
}

}  // namespace

std::string_view nameOf(MemoryPattern pattern) {
  switch (pattern) {
    case MemoryPattern::kAny: return "*";
    case MemoryPattern::kCpu: return "cpu";
    case MemoryPattern::kCuda: return "cuda";
  }
  return "";
}

const TransportPolicy* selectTransportPolicy(const std::vector<TransportPolicy>& policies, const TransferShape& shape,
                                             Priority effective_priority, IntentType intent_type) {
  return addressOrNull(policies, std::find_if(policies.begin(), policies.end(), [&](const TransportPolicy& policy) {
                         return matches(policy, shape, effective_priority, intent_type);
                       }));
}

const TransportPolicy* findTransportPolicy(const std::vector<TransportPolicy>& policies, SegmentType segment_type,
                                           std::string_view name) {
  return addressOrNull(policies, std::find_if(policies.begin(), policies.end(), [&](const TransportPolicy& policy) {
                         return policy.segment_type == segment_type && policy.name == name;
                       }));
}

const TransportList& defaultTransports(SegmentType segment_type) {
  static constexpr TransportList kForFiles{Transport::kIoUring};
  static constexpr TransportList kForMemory{Transport::kShm, Transport::kRdma, Transport::kTcp};
  return segment_type == SegmentType::kFile ? kForFiles : kForMemory;
}

}  // namespace tent
