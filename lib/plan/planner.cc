#include "plan/planner.h"

#include <algorithm>
#include <utility>

#include "plan/candidates.h"

namespace tent {
namespace {

constexpr MemoryLocation kStagingMemory{MemoryKind::kCpu, -1};

// What became of one candidate: a way to carry the request, or why there is none.
struct Judged {
  Transport transport = Transport::kUnspec;
  Verdict verdict;
  PathKind path = PathKind::kDirect;

  bool usable() const { return !verdict.rejected; }
  bool usable(PathKind kind) const { return usable() && path == kind; }
};

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

// Judges every candidate: directly, and through host buffers where that does not work or is not wanted.
std::vector<Judged> judgeAll(const JudgementInputs& direct, const TransferShape& shape) {
  JudgementInputs staged = direct;
  staged.local_memory = staged.remote_memory = kStagingMemory;
  const bool force = direct.settings.force_staging;
  // Between host memories the way through host buffers meets what the direct one met.
  const bool may_help =
      force || direct.local_memory.kind != MemoryKind::kCpu || direct.remote_memory.kind != MemoryKind::kCpu;
  const std::string obstacle = stagingObstacle(shape, direct.environment);
  std::vector<Judged> all;
  for (Transport transport : candidatesOf(direct.effective, direct.environment)) {
    Judged judged{transport, judge(transport, direct), PathKind::kDirect};
    if (force && judged.usable() && !obstacle.empty()) {
      judged.verdict.rejected =
          Rejected{transport, RejectReason::kMemoryPairUnsupported, "staging.force is set, but " + obstacle};
    } else if (may_help && obstacle.empty() && (force || !judged.usable())) {
      judged = {transport, judge(transport, staged), PathKind::kStaged};
    }
    all.push_back(std::move(judged));
  }
  return all;
}

// The one to begin with: the hinted one or none; without a hint the first that goes directly, else the first at all.
const Judged* choosePrimary(const std::vector<Judged>& all, Transport hint) {
  const auto first = [&all](auto wanted) {
    const auto it = std::find_if(all.begin(), all.end(), wanted);
    return it == all.end() ? nullptr : &*it;
  };
  if (hint != Transport::kUnspec) return first([hint](const Judged& j) { return j.usable() && j.transport == hint; });
  const Judged* direct = first([](const Judged& j) { return j.usable(PathKind::kDirect); });
  return direct != nullptr ? direct : first([](const Judged& j) { return j.usable(); });
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
  const JudgementInputs inputs{effective,          policies,           settings,           environment,
                               shape.segment_type, shape.local_memory, shape.remote_memory};
  const std::vector<Judged> all = judgeAll(inputs, shape);
  const Judged* primary = choosePrimary(all, requested.transport_hint);

  PlanOutcome outcome;
  ExecutionPlan& plan = outcome.plan;
  if (effective.transport_policy != nullptr) plan.transport_policy = effective.transport_policy->name;
  for (const Judged& judged : all) {
    if (!judged.usable()) {
      plan.rejected.push_back(*judged.verdict.rejected);
    } else if (primary == nullptr) {
      plan.rejected.push_back({judged.transport, RejectReason::kHintExcluded, {}});
    } else if (&judged != primary && plan.fallbacks.size() < settings.max_failover_attempts) {
      plan.fallbacks.add(judged.transport);
      if (judged.path == PathKind::kStaged) plan.staged_fallbacks.add(judged.transport);
    } else if (&judged != primary) {
      plan.fallbacks_cut = true;
    }
  }
  if (primary == nullptr) {
    if (requested.transport_hint != Transport::kUnspec) {
      // The hint is the first of the authorized transports, so its own reason is the first rejection.
      outcome.error = {Reason::kHintUnavailable, Field::kTransportHint, -1,
                       std::string(nameOf(requested.transport_hint)), messageOf(plan.rejected.front())};
    } else {
      outcome.error = errorOf(Reason::kNoTransport, reasonsOf(plan.rejected));
    }
    return outcome;
  }

  plan.primary = primary->transport;
  plan.path_kind = primary->path;
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
