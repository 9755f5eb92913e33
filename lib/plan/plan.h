// The execution plan of one request: what carries it, through which devices, in which pieces, what is tried next, and
// why everything else is not (RFC Execution Plan, #2863).
//
// A value: computed before anything is sent, never changed after, the same for the same inputs. Views in it refer to
// the PolicySet and the Environment that it was made from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intent/values.h"
#include "inventory/environment.h"
#include "plan/nic_choice.h"

namespace tent {

inline constexpr uint32_t kPlanSchemaVersion = 1;
inline constexpr uint64_t kDefaultRdmaSliceBytes = 65536;  // transports.rdma.workers.block_size as deployed
inline constexpr uint64_t kDefaultStagingChunkBytes = 4u << 20;

enum class PathKind : uint8_t { kDirect, kStaged };
std::string_view nameOf(PathKind kind);

enum class RejectReason : uint8_t {
  kNotAuthorized,
  kNotBuilt,
  kDisabled,
  kNotSameMachine,
  kMemoryPairUnsupported,
  kDeviceMissing,
  kQpPoolMissing,
  kPeerLacks,
  kUnhealthy,
  kHintExcluded,
};
std::string_view nameOf(RejectReason reason);

// A candidate that the plan does not use. `detail` is what messageOf needs: a device, a pool, a memory.
struct Rejected {
  Transport backend = Transport::kUnspec;
  RejectReason reason = RejectReason::kNotAuthorized;
  std::string detail;
};
std::string messageOf(const Rejected& rejected);

enum class StageType : uint8_t { kTransfer, kCopy };
std::string_view nameOf(StageType type);

// One hop. A copy moves bytes between a memory and a staging buffer on one host: it names the memory as the device of
// that host, local or remote.
struct Stage {
  StageType type = StageType::kTransfer;
  std::string_view backend;   // a transport's name; for copies "memcpy" or "cuda"
  std::string local_device;   // "" none
  std::string remote_device;  // "" none
  std::string_view qp_pool;   // "" none
  std::optional<uint8_t> service_level;
  std::optional<uint8_t> traffic_class;
  uint64_t bytes = 0;
  uint64_t slice_bytes = 0;
  uint64_t slices = 0;
};

struct ExecutionPlan {
  PathKind path_kind = PathKind::kDirect;
  Transport primary = Transport::kUnspec;
  std::string_view transport_policy;  // "" none
  std::vector<Stage> stages;
  TransportList fallbacks;         // in the order they are tried
  TransportSet staged_fallbacks;   // those of them that go through host memory
  bool fallbacks_cut = false;      // max_failover_attempts leaves some out
  std::vector<Rejected> rejected;  // in the order they were judged
};

}  // namespace tent
