#include "plan/planner.h"

#include <algorithm>
#include <utility>

#include "plan/candidates.h"

namespace tent {
namespace {

constexpr MemoryLocation kStagingMemory{MemoryKind::kCpu, -1};

struct Judged {
  Transport transport;
  Verdict verdict;
};

std::vector<Judged> judgeAll(const JudgementInputs& inputs) {
  std::vector<Judged> judged;
  for (Transport transport : candidatesOf(inputs.effective, inputs.environment)) {
    judged.push_back({transport, judge(transport, inputs)});
  }
  return judged;
}

bool anyUsable(const std::vector<Judged>& judged) {
  return std::any_of(judged.begin(), judged.end(), [](const Judged& j) { return !j.verdict.rejected; });
}

// Why the request cannot go through host buffers; "" when it can.
std::string stagingObstacle(const TransferShape& shape, const Environment& environment) {
  if (shape.segment_type == SegmentType::kFile) return "files are not staged";
  const auto obstacle = [](const HostInventory& host, const MemoryLocation& memory, std::string_view whose) {
    if (memory.kind == MemoryKind::kCpu) return std::string();
    if (!host.has(memory)) return std::string(whose) + " has no memory " + toString(memory);
    return host.gpu_copy ? std::string() : std::string(whose) + " cannot copy between GPU and host memory";
  };
  const std::string local = obstacle(environment.local, shape.local_memory, "this host");
  return local.empty() ? obstacle(environment.peer, shape.remote_memory, "the peer") : local;
}

uint64_t slicesOf(uint64_t bytes, uint64_t slice_bytes) {
  return slice_bytes == 0 ? 0 : bytes / slice_bytes + (bytes % slice_bytes != 0 ? 1 : 0);
}

void setSlices(Stage& stage, uint64_t bytes, uint64_t slice_bytes) {
  stage.bytes = bytes;
  stage.slice_bytes = std::min(bytes, slice_bytes);
  stage.slices = slicesOf(bytes, stage.slice_bytes);
}

Stage transferStage(const Judged& judged, const EffectivePolicy& effective, uint64_t bytes, uint64_t slice_limit,
                    const PlanSettings& settings) {
  Stage stage;
  stage.type = StageType::kTransfer;
  stage.backend = nameOf(judged.transport);
  if (judged.transport == Transport::kRdma) {
    stage.local_device = judged.verdict.nics.local.nic->name;
    stage.remote_device = judged.verdict.nics.remote.nic->name;
    if (const std::string* pool = effective.qpPool()) stage.qp_pool = *pool;
    stage.service_level = effective.service_level;
    stage.traffic_class = effective.traffic_class;
    slice_limit = std::min(slice_limit, settings.rdma_slice_bytes);
  }
  setSlices(stage, bytes, slice_limit);
  return stage;
}

// The copy between a memory and the staging buffers of its host.
Stage copyStage(const MemoryLocation& memory, bool on_peer, uint64_t bytes, const PlanSettings& settings) {
  Stage stage;
  stage.type = StageType::kCopy;
  stage.backend = memory.kind == MemoryKind::kCuda ? "cuda" : "memcpy";
  (on_peer ? stage.remote_device : stage.local_device) = toString(memory);
  setSlices(stage, bytes, settings.staging_chunk_bytes);
  return stage;
}

std::vector<Stage> stagedPath(const Judged& judged, const RequestedIntent& requested, const EffectivePolicy& effective,
                              const TransferShape& shape, const PlanSettings& settings) {
  const uint64_t bytes = requested.length;
  const auto needs_copy = [&](const MemoryLocation& memory) {
    return settings.force_staging || memory.kind != MemoryKind::kCpu;
  };
  std::vector<Stage> stages;
  const bool write = requested.opcode == Opcode::kWrite;
  const MemoryLocation& from = write ? shape.local_memory : shape.remote_memory;
  const MemoryLocation& to = write ? shape.remote_memory : shape.local_memory;
  if (needs_copy(from)) stages.push_back(copyStage(from, !write, bytes, settings));
  stages.push_back(transferStage(judged, effective, bytes, settings.staging_chunk_bytes, settings));
  if (needs_copy(to)) stages.push_back(copyStage(to, write, bytes, settings));
  return stages;
}

std::string reasonsOf(const std::vector<Rejected>& rejected) {
  std::string text;
  for (const Rejected& candidate : rejected) {
    if (!text.empty()) text += ", ";
    text += std::string(nameOf(candidate.backend)) + " " + std::string(nameOf(candidate.reason));
  }
  return text;
}

}  // namespace

PlanOutcome makePlan(const RequestedIntent& requested, const EffectivePolicy& effective, const TransferShape& shape,
                     const PolicySet& policies, const PlanSettings& settings, const Environment& environment) {
  JudgementInputs inputs{effective,          policies,           settings,           environment,
                         shape.segment_type, shape.local_memory, shape.remote_memory};
  PlanOutcome outcome;
  ExecutionPlan& plan = outcome.plan;
  if (effective.transport_policy != nullptr) plan.transport_policy = effective.transport_policy->name;

  std::vector<Judged> judged = judgeAll(inputs);
  const bool has_direct = anyUsable(judged);
  if (settings.force_staging || !has_direct) {
    const std::string obstacle = stagingObstacle(shape, environment);
    if (obstacle.empty()) {
      plan.path_kind = PathKind::kStaged;
      inputs.local_memory = kStagingMemory;
      inputs.remote_memory = kStagingMemory;
      judged = judgeAll(inputs);
    } else if (has_direct) {
      for (Judged& candidate : judged) {
        if (candidate.verdict.rejected) continue;
        candidate.verdict.rejected = Rejected{candidate.transport, RejectReason::kMemoryPairUnsupported,
                                              "staging.force is set, but " + obstacle};
      }
    }
  }

  const Transport hint = requested.transport_hint;
  const Judged* primary = nullptr;
  for (const Judged& candidate : judged) {
    if (candidate.verdict.rejected) {
      plan.rejected.push_back(*candidate.verdict.rejected);
    } else if (primary != nullptr) {
      plan.fallbacks.add(candidate.transport);
    } else if (hint == Transport::kUnspec || hint == candidate.transport) {
      primary = &candidate;
    } else {
      plan.rejected.push_back({candidate.transport, RejectReason::kHintExcluded, {}});
    }
  }
  if (primary == nullptr) {
    if (hint != Transport::kUnspec) {
      // The hint is the first of the authorized transports, so its own reason is the first rejection.
      outcome.error = {Reason::kHintUnavailable, Field::kTransportHint, -1, std::string(nameOf(hint)),
                       messageOf(plan.rejected.front())};
    } else {
      outcome.error = {Reason::kNoTransport, Field::kNone, -1, {}, reasonsOf(plan.rejected)};
    }
    return outcome;
  }

  plan.primary = primary->transport;
  if (plan.path_kind == PathKind::kStaged) {
    plan.stages = stagedPath(*primary, requested, effective, shape, settings);
  } else {
    plan.stages.push_back(transferStage(*primary, effective, requested.length, requested.length, settings));
  }
  return outcome;
}

NicTrace traceNics(const EffectivePolicy& effective, const TransferShape& shape, PathKind path_kind,
                   const PolicySet& policies, const PlanSettings& settings, const Environment& environment) {
  const bool staged = path_kind == PathKind::kStaged;
  const JudgementInputs inputs{effective,
                               policies,
                               settings,
                               environment,
                               shape.segment_type,
                               staged ? kStagingMemory : shape.local_memory,
                               staged ? kStagingMemory : shape.remote_memory};
  NicTrace trace;
  chooseNics(environment, nicQueryOf(inputs), &trace);
  return trace;
}

}  // namespace tent
