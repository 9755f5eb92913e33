#include "intent/normalize.h"
#include "plan/planner.h"

namespace tent {

Error checkAdmission(const RequestedIntent& requested, const EffectivePolicy& effective) {
  if (requested.deadline.state != DeadlineState::kExpired || effective.admission != ExpiredAdmission::kReject)
    return {};
  return {Reason::kDeadlineExpired, Field::kDeadlineNs, -1, requested.deadline.deadline_ns, {}};
}

void planDecision(Decision& decision, const TransferShape& shape, const DecisionContext& context) {
  PlanOutcome outcome =
      makePlan(decision.requested, *decision.effective, shape, context.policies, context.settings, context.environment);
  decision.error = std::move(outcome.error);
  if (decision.error) {
    decision.rejected = std::move(outcome.plan.rejected);
    return;
  }
  decision.error = checkAdmission(decision.requested, *decision.effective);
  if (!decision.error) decision.plan = std::move(outcome.plan);
}

Decision decide(const RequestFields& fields, TransferShape shape, const PolicyName& tenant, ValidationMode mode,
                uint64_t now_ns, const DecisionContext& context) {
  Decision decision;
  decision.error = normalizeRequest(fields, mode, now_ns, decision.requested);
  if (decision.error) return decision;

  shape.length = decision.requested.length;
  shape.same_machine = context.environment.same_machine;
  EffectivePolicy effective;
  decision.error = resolve(decision.requested, shape, Tenant(tenant, context.policies), context.policies,
                           context.environment.built, mode, effective);
  if (decision.error) return decision;
  decision.effective = effective;

  planDecision(decision, shape, context);
  return decision;
}

}  // namespace tent
