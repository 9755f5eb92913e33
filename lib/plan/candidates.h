// Judging candidates: whether one transport can carry one request here and now, or the first reason why not.
#pragma once

#include <optional>
#include <vector>

#include "plan/planner.h"

namespace tent {

// Everything that the judgement of one request's candidates looks at.
struct JudgementInputs {
  const EffectivePolicy& effective;
  const PolicySet& policies;
  const PlanSettings& settings;
  const Environment& environment;
  SegmentType segment_type = SegmentType::kMemory;
  MemoryLocation local_memory;  // where the hop between the hosts begins and ends: with staging, host memory
  MemoryLocation remote_memory;
};

struct Verdict {
  std::optional<Rejected> rejected;  // absent: it can carry the request
  NicChoice nics;                    // for rdma, where it can
};

Verdict judge(Transport transport, const JudgementInputs& inputs);

// Every candidate: the authorized ones in their order, then what is built but not authorized.
std::vector<Transport> candidatesOf(const EffectivePolicy& effective, const Environment& environment);

NicQuery nicQueryOf(const JudgementInputs& inputs);

}  // namespace tent
