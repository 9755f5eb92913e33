#include "plan/plan.h"

namespace tent {

std::string_view nameOf(PathKind kind) {
  return kind == PathKind::kStaged ? "staged" : "direct";
}

std::string_view nameOf(StageType type) {
  return type == StageType::kCopy ? "copy" : "transfer";
}

std::string_view nameOf(RejectReason reason) {
  switch (reason) {
    case RejectReason::kNotAuthorized: return "not_authorized";
    case RejectReason::kNotBuilt: return "not_built";
    case RejectReason::kDisabled: return "disabled";
    case RejectReason::kNotSameMachine: return "not_same_machine";
    case RejectReason::kMemoryPairUnsupported: return "memory_pair_unsupported";
    case RejectReason::kDeviceMissing: return "device_missing";
    case RejectReason::kQpPoolMissing: return "qp_pool_missing";
    case RejectReason::kPeerLacks: return "peer_lacks";
    case RejectReason::kUnhealthy: return "unhealthy";
    case RejectReason::kHintExcluded: return "hint_excluded";
  }
  return "";
}

std::string messageOf(const Rejected& rejected) {
  switch (rejected.reason) {
    case RejectReason::kNotAuthorized: return "it is not among the authorized transports";
    case RejectReason::kNotBuilt: return "this build does not contain it";
    case RejectReason::kDisabled: return rejected.detail.empty() ? "it is switched off here" : rejected.detail;
    case RejectReason::kNotSameMachine: return "the peer is on another machine";
    case RejectReason::kQpPoolMissing:
      return rejected.detail.empty() ? "its queue pair pool is not declared"
                                     : "no queue pair pool is named " + rejected.detail;
    case RejectReason::kPeerLacks: return rejected.detail.empty() ? "the peer does not serve it" : rejected.detail;
    case RejectReason::kUnhealthy: return "it is paused after repeated failures";
    case RejectReason::kHintExcluded: return "it could carry the request, but the hint asks for another";
    case RejectReason::kMemoryPairUnsupported:
      return rejected.detail.empty() ? "it does not move bytes between these memories" : rejected.detail;
    case RejectReason::kDeviceMissing:
      return rejected.detail.empty() ? "an RDMA device that it needs is not there" : rejected.detail;
  }
  return "";
}

}  // namespace tent
