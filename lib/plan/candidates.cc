#include "plan/candidates.h"

#include <utility>

namespace tent {
namespace {

bool staysOnOneMachine(Transport transport) {
  return transport == Transport::kShm || transport == Transport::kNvlink;
}

// Which memories a transport moves bytes between. The transports that this suite knows only by name carry nothing here.
bool carries(Transport transport, SegmentType segment_type, MemoryKind local, MemoryKind remote) {
  const bool both_host = local == MemoryKind::kCpu && remote == MemoryKind::kCpu;
  const bool both_gpu = local == MemoryKind::kCuda && remote == MemoryKind::kCuda;
  switch (transport) {
    case Transport::kShm:
    case Transport::kTcp: return segment_type == SegmentType::kMemory && both_host;
    case Transport::kRdma: return segment_type == SegmentType::kMemory;
    case Transport::kNvlink:
    case Transport::kMnnvl: return segment_type == SegmentType::kMemory && both_gpu;
    case Transport::kIoUring: return segment_type == SegmentType::kFile && local == MemoryKind::kCpu;
    case Transport::kGds: return segment_type == SegmentType::kFile && local == MemoryKind::kCuda;
    default: return false;
  }
}

std::string pairText(const JudgementInputs& inputs) {
  const std::string remote =
      inputs.segment_type == SegmentType::kFile ? std::string("a file") : toString(inputs.remote_memory);
  return toString(inputs.local_memory) + " and " + remote;
}

// A memory of the request that is not there at all; "" when both are.
std::string missingMemory(const JudgementInputs& inputs) {
  if (!inputs.environment.local.has(inputs.local_memory)) {
    return "this host has no memory " + toString(inputs.local_memory);
  }
  if (inputs.segment_type == SegmentType::kMemory && !inputs.environment.peer.has(inputs.remote_memory)) {
    return "the peer has no memory " + toString(inputs.remote_memory);
  }
  return "";
}

std::optional<Rejected> rejectedForNics(const NicResult& result) {
  const auto rejected = [](RejectReason reason, std::string detail) {
    return Rejected{Transport::kRdma, reason, std::move(detail)};
  };
  switch (result.failure) {
    case NicFailure::kNone: return std::nullopt;
    case NicFailure::kNoLocalNic: return rejected(RejectReason::kDeviceMissing, "this host has no RDMA device");
    case NicFailure::kDeviceMissing:
      return rejected(RejectReason::kDeviceMissing,
                      "the policy entry names the device " + result.subject + ", which this host lacks");
    case NicFailure::kNoUsableLocal:
      return rejected(RejectReason::kDeviceMissing,
                      "no RDMA device of this host may be used and has an address that serves");
    case NicFailure::kNoRemoteNic: return rejected(RejectReason::kPeerLacks, "the peer has no RDMA device");
    case NicFailure::kNoUsableRemote:
      return rejected(RejectReason::kPeerLacks, "no RDMA device of the peer has an address that serves");
    case NicFailure::kNoCommonAddress:
      return rejected(RejectReason::kPeerLacks, "no pair of RDMA devices shares a link layer and an address family");
    case NicFailure::kNoGpuDirect:
      return rejected(RejectReason::kMemoryPairUnsupported, "no RDMA device that may be used can register GPU memory");
  }
  return std::nullopt;
}

}  // namespace

std::vector<Transport> candidatesOf(const EffectivePolicy& effective, const Environment& environment) {
  std::vector<Transport> candidates(effective.authorized_transports.begin(), effective.authorized_transports.end());
  TransportList order = defaultTransports(SegmentType::kMemory);
  for (int i = 1; i < kTransportCount; ++i) order.add(static_cast<Transport>(i));
  for (Transport transport : order) {
    if (environment.built.has(transport) && !effective.authorized_transports.has(transport)) {
      candidates.push_back(transport);
    }
  }
  return candidates;
}

NicQuery nicQueryOf(const JudgementInputs& inputs) {
  NicQuery query;
  query.local_memory = inputs.local_memory;
  query.remote_memory = inputs.remote_memory;
  if (inputs.effective.transport_policy != nullptr) query.devices = inputs.effective.transport_policy->devices;
  query.whitelist = inputs.settings.rdma_whitelist;
  query.blacklist = inputs.settings.rdma_blacklist;
  query.gid_index = inputs.settings.gid_index;
  return query;
}

Verdict judge(Transport transport, const JudgementInputs& inputs) {
  const Environment& environment = inputs.environment;
  Verdict verdict;
  const auto rejected = [&](RejectReason reason, std::string detail = {}) {
    verdict.rejected = Rejected{transport, reason, std::move(detail)};
    return verdict;
  };
  if (!inputs.effective.authorized_transports.has(transport)) return rejected(RejectReason::kNotAuthorized);
  if (!environment.built.has(transport)) return rejected(RejectReason::kNotBuilt);
  if (inputs.settings.disabled.has(transport))
    return rejected(RejectReason::kDisabled, "transports." + std::string(nameOf(transport)) + ".enable is false");
  if (environment.disabled.has(transport)) return rejected(RejectReason::kDisabled);
  if (staysOnOneMachine(transport) && !environment.same_machine) return rejected(RejectReason::kNotSameMachine);
  if (std::string missing = missingMemory(inputs); !missing.empty()) {
    return rejected(RejectReason::kMemoryPairUnsupported, std::move(missing));
  }
  if (!carries(transport, inputs.segment_type, inputs.local_memory.kind, inputs.remote_memory.kind)) {
    return rejected(RejectReason::kMemoryPairUnsupported, "it does not move bytes between " + pairText(inputs));
  }
  if (transport == Transport::kRdma) {
    const NicResult nics = chooseNics(environment, nicQueryOf(inputs));
    verdict.rejected = rejectedForNics(nics);
    if (verdict.rejected) return verdict;
    verdict.nics = nics.choice;
    const std::string* pool = inputs.effective.qpPool();
    if (pool != nullptr && inputs.policies.findPool(*pool) == nullptr) {
      return rejected(RejectReason::kQpPoolMissing, *pool);
    }
  }
  if (!environment.peer_reachable) return rejected(RejectReason::kPeerLacks, "the peer cannot be reached");
  if (environment.peer_lacks.has(transport)) return rejected(RejectReason::kPeerLacks);
  if (environment.unhealthy.has(transport)) return rejected(RejectReason::kUnhealthy);
  return verdict;
}

}  // namespace tent
