// The transport policies of an engine configuration (`policy`): which transports a kind of transfer may use, in which
// order, and with which RDMA resources. The first entry that matches counts; a request's policy_name selects one by
// name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intent/request.h"
#include "intent/values.h"
#include "inventory/memory.h"

namespace tent {

enum class MemoryPattern : uint8_t { kAny, kCpu, kCuda };
std::string_view nameOf(MemoryPattern pattern);  // "*", "cpu", "cuda"
constexpr bool matches(MemoryPattern pattern, MemoryKind kind) {
  return pattern == MemoryPattern::kAny || (pattern == MemoryPattern::kCpu) == (kind == MemoryKind::kCpu);
}

struct TransportPolicy {
  std::string name;
  SegmentType segment_type = SegmentType::kMemory;
  std::optional<bool> same_machine;
  MemoryPattern local_memory = MemoryPattern::kAny;
  MemoryPattern remote_memory = MemoryPattern::kAny;
  std::optional<uint64_t> min_size;       // bytes, inclusive
  std::optional<uint64_t> max_size;       // bytes, inclusive
  std::optional<Priority> priority;       // matched against the effective priority
  std::optional<IntentType> intent_type;  // unspec matches only unspec
  std::vector<std::string> devices;       // empty: all
  TransportList transports;               // empty: the default of the segment type
  std::optional<std::string> qp_pool;
  std::optional<uint8_t> service_level;
  std::optional<uint8_t> traffic_class;
};

// A pool of RDMA queue pairs (`transports.rdma.endpoint.qp_pools`).
struct QpPool {
  std::string name;
  uint32_t num_qp = 1;
  std::optional<uint8_t> service_level;
  std::optional<uint8_t> traffic_class;
};

// What of a transfer the policies look at, beside the intent.
struct TransferShape {
  SegmentType segment_type = SegmentType::kMemory;
  MemoryLocation local_memory;
  MemoryLocation remote_memory;
  bool same_machine = true;
  uint64_t length = 0;  // bytes
};

// The first entry, in order, that matches; nullptr when none does.
const TransportPolicy* selectTransportPolicy(const std::vector<TransportPolicy>& policies, const TransferShape& shape,
                                             Priority effective_priority, IntentType intent_type);

// The entry of that name for that segment type; nullptr when there is none.
const TransportPolicy* findTransportPolicy(const std::vector<TransportPolicy>& policies, SegmentType segment_type,
                                           std::string_view name);

// What is authorized where no entry says: memory shm, rdma, tcp; files io_uring.
const TransportList& defaultTransports(SegmentType segment_type);

}  // namespace tent
