// The parts of the C++ API that need no engine.
#include "cpp/request_entries.h"
#include "cpp/results.h"
#include "tent/engine.h"

namespace tent {
inline namespace v1 {

Status normalizeTransferIntent(const Request& request, NormalizedTransferIntent& out, ValidationMode mode,
                               uint64_t now_ns) {
  const RequestEntries entry(&request, 1);
  tent_normalized_intent_t normalized{};
  normalized.struct_size = sizeof normalized;
  const int code = tent_normalize_request(entry.data(), sizeof(tent_request_v1_t), TENT_REQUEST_SCHEMA_V1,
                                          static_cast<int32_t>(mode), now_ns, &normalized);
  if (code != TENT_OK) return statusOf(code, entry);
  NormalizedTransferIntent intent;
  intent.opcode = static_cast<Request::OpCode>(normalized.opcode);
  intent.target_offset = normalized.target_offset;
  intent.length = normalized.length;
  intent.intent_type = static_cast<IntentType>(normalized.intent_type);
  intent.requested_priority = static_cast<RequestedPriority>(normalized.requested_priority);
  intent.deadline_state = static_cast<NormalizedTransferIntent::DeadlineState>(normalized.deadline_state);
  intent.deadline_ns = normalized.deadline_ns;
  intent.remaining_ns = normalized.remaining_ns;
  if (normalized.policy_name[0] != '\0') intent.policy_name = normalized.policy_name;
  intent.transport_hint = static_cast<TransportType>(normalized.transport_hint);
  intent.flags = normalized.flags;
  for (uint32_t i = 0; i < normalized.downgrade_count; ++i) {
    const tent_downgrade_t& downgrade = normalized.downgrades[i];
    intent.downgrades.push_back({downgrade.field, downgrade.reason, downgrade.from, downgrade.to});
  }
  out = std::move(intent);
  return {};
}

Status deadlineAfter(std::chrono::nanoseconds budget, uint64_t& deadline_ns) {
  if (budget.count() < 0) return refusal(kBadBudget, "a budget is not negative: what has passed is no deadline");
  return statusOf(tent_deadline_after_ns(static_cast<uint64_t>(budget.count()), &deadline_ns));
}

}  // namespace v1
}  // namespace tent
