// From a request to its decision: normalize, resolve, plan, in the one order of checks. Both what executes a request
// and what explains it call `decide`, so that they cannot disagree.
//
// Pure: time, policies and inventory are arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "intent/request.h"
#include "inventory/environment.h"
#include "plan/plan.h"
#include "policy/resolve.h"

namespace tent {

// The part of an engine configuration that plans depend on, beside the policies.
struct PlanSettings {
  TransportSet disabled;  // transports.<name>.enable is false
  uint64_t rdma_slice_bytes = kDefaultRdmaSliceBytes;
  bool force_staging = false;
  uint64_t staging_chunk_bytes = kDefaultStagingChunkBytes;
  std::vector<std::string> rdma_whitelist;
  std::vector<std::string> rdma_blacklist;
  std::optional<int> gid_index;  // absent: choose
  uint32_t max_failover_attempts = 3;
};

struct PlanOutcome {
  Error error;  // hint_unavailable or no_transport; then the plan holds only the rejected candidates
  ExecutionPlan plan;
};

// Plans an authorized request. Step 7 of the order of checks, and the end of step 6: hint_unavailable.
PlanOutcome makePlan(const RequestedIntent& requested, const EffectivePolicy& effective, const TransferShape& shape,
                     const PolicySet& policies, const PlanSettings& settings, const Environment& environment);

// How the NICs of an rdma stage were chosen, or why none could be: the same choice that makePlan made.
NicTrace traceNics(const EffectivePolicy& effective, const TransferShape& shape, PathKind path_kind,
                   const PolicySet& policies, const PlanSettings& settings, const Environment& environment);

// The last check: deadline_expired where the request's deadline has passed and admission rejects such requests. A
// runtime error, as the request itself is valid.
Error checkAdmission(const RequestedIntent& requested, const EffectivePolicy& effective);

struct Decision {
  Error error;  // kNone: the request may run as planned
  RequestedIntent requested;
  std::optional<EffectivePolicy> effective;
  std::optional<ExecutionPlan> plan;  // only without an error
  std::vector<Rejected> rejected;     // with an error: the candidates, where there were any
};

// What every request is decided against; all of it must outlive the decisions made with it.
struct DecisionContext {
  const PolicySet& policies;
  const PlanSettings& settings;
  const Environment& environment;
};

// The end of a decision of which `requested` and `effective` are set: the plan, and then admission.
void planDecision(Decision& decision, const TransferShape& shape, const DecisionContext& context);

// Decides one request of which the fields were read without a layout error. `shape.length` and `shape.same_machine` are
// taken from the fields and the environment.
Decision decide(const RequestFields& fields, TransferShape shape, const PolicyName& tenant, ValidationMode mode,
                uint64_t now_ns, const DecisionContext& context);

}  // namespace tent
