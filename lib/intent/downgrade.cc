#include "intent/downgrade.h"

#include "intent/request.h"

namespace tent {

std::string_view nameOf(DowngradeReason reason) {
  switch (reason) {
    case DowngradeReason::kUnknownIntentType: return "unknown_intent_type";
    case DowngradeReason::kUnknownPriority: return "unknown_priority";
    case DowngradeReason::kPolicyUnknown: return "policy_unknown";
    case DowngradeReason::kPolicyUnauthorized: return "policy_unauthorized";
    case DowngradeReason::kPriorityAboveContract: return "priority_above_contract";
    case DowngradeReason::kFlagsIgnored: return "flags_ignored";
    case DowngradeReason::kTailIgnored: return "tail_ignored";
  }
  return "";
}

std::string_view nameOf(DeadlineState state) {
  switch (state) {
    case DeadlineState::kNone: return "none";
    case DeadlineState::kPending: return "pending";
    case DeadlineState::kExpired: return "expired";
  }
  return "";
}

}  // namespace tent
