#include "intent/normalize.h"

#include <limits>
#include <new>
#include <type_traits>

namespace tent {
namespace {

static_assert(std::is_trivially_destructible_v<RequestedIntent>);  // it is made anew in place

constexpr uint64_t kRequiredFlagBits = 0xffff'ffffu;  // bits 0 to 31; v1 defines none of them

// An error as a return value of each step would cost more than its checks; so one is handed through, and only a failure
// writes it.
bool fail(Error& error, Reason reason, Field field, ErrorValue value = {}) {
  error = {reason, field, -1, std::move(value), {}};
  return false;
}

uint64_t signExtended(int32_t value) {
  return static_cast<uint64_t>(int64_t{value});
}

// Each step fills its part of `out`; false: `error` says why not.

bool takeReservedAndFlags(const RequestFields& fields, RequestedIntent& out, Error& error) {
  if (fields.reserved_opcode != 0) {
    return fail(error, Reason::kReservedNonzero, Field::kReservedOpcode, uint64_t{fields.reserved_opcode});
  }
  if (fields.reserved0 != 0)
    return fail(error, Reason::kReservedNonzero, Field::kReserved0, uint64_t{fields.reserved0});
  if ((fields.flags & kRequiredFlagBits) != 0) return fail(error, Reason::kUnknownFlags, Field::kFlags, fields.flags);
  if (fields.flags != 0) out.downgrades.add({Field::kFlags, DowngradeReason::kFlagsIgnored, fields.flags, 0});
  out.flags = 0;
  return true;
}

bool takeArguments(const RequestFields& fields, RequestedIntent& out, Error& error) {
  const auto opcode = valueOfInteger<Opcode>(fields.opcode);
  if (!opcode) return fail(error, Reason::kUnknownOpcode, Field::kOpcode, int64_t{fields.opcode});
  if (!fields.has_source) return fail(error, Reason::kNullSource, Field::kSource);
  // A deployed caller's empty request completes at once.
  if (fields.length == 0 && fields.surface != Surface::kLegacy) {
    return fail(error, Reason::kZeroLength, Field::kLength, fields.length);
  }
  if (fields.target_offset > std::numeric_limits<uint64_t>::max() - fields.length) {
    return fail(error, Reason::kRangeOverflow, Field::kTargetOffset, fields.target_offset);
  }
  out.opcode = *opcode;
  out.length = fields.length;
  out.target_offset = fields.target_offset;
  return true;
}

bool takeIntentType(const RequestFields& fields, ValidationMode mode, bool trusted_internal, RequestedIntent& out,
                    Error& error) {
  const auto intent_type = valueOfInteger<IntentType>(fields.intent_type);
  if (!intent_type) {
    if (mode == ValidationMode::kStrict) {
      return fail(error, Reason::kUnknownIntentType, Field::kIntentType, int64_t{fields.intent_type});
    }
    out.downgrades.add({Field::kIntentType, DowngradeReason::kUnknownIntentType, signExtended(fields.intent_type), 0});
  }
  out.intent_type = intent_type.value_or(IntentType::kUnspec);
  if (out.intent_type == IntentType::kStagingInternal && !trusted_internal) {
    return fail(error, Reason::kStagingInternalReserved, Field::kIntentType, int64_t{fields.intent_type});
  }
  return true;
}

bool takePriority(const RequestFields& fields, ValidationMode mode, RequestedIntent& out, Error& error) {
  if (fields.surface == Surface::kLegacy) {
    out.priority = requestedOf(priorityOfLegacy(fields.priority));
    return true;
  }
  const auto priority = valueOfInteger<RequestedPriority>(fields.priority);
  if (!priority) {
    if (mode == ValidationMode::kStrict) {
      return fail(error, Reason::kUnknownPriority, Field::kRequestedPriority, int64_t{fields.priority});
    }
    out.downgrades.add(
        {Field::kRequestedPriority, DowngradeReason::kUnknownPriority, signExtended(fields.priority), 0});
  }
  out.priority = priority.value_or(RequestedPriority::kUnspec);
  return true;
}

bool takeDeadline(const RequestFields& fields, uint64_t now_ns, RequestedIntent& out, Error& error) {
  uint64_t deadline_ns = fields.deadline.ns;
  if (fields.deadline.kind == DeadlineInput::Kind::kBudget) {
    const auto converted = deadlineAfter(now_ns, fields.deadline.ns);
    if (!converted) {
      fail(error, converted.error(), Field::kDeadlineNs, fields.deadline.ns);
      if (error.reason == Reason::kDeadlineOutOfRange) error.detail = "the value is the budget that was given";
      return false;
    }
    deadline_ns = *converted;
  } else if (deadline_ns == 0) {
    return true;
  }
  constexpr auto kClockMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool expired = deadline_ns <= now_ns;
  if (deadline_ns > kClockMax || (!expired && deadline_ns - now_ns > kDeadlineHorizonNs)) {
    return fail(error, Reason::kDeadlineOutOfRange, Field::kDeadlineNs, deadline_ns);
  }
  out.deadline = expired ? Deadline{DeadlineState::kExpired, deadline_ns, 0}
                         : Deadline{DeadlineState::kPending, deadline_ns, deadline_ns - now_ns};
  return true;
}

bool takePolicyName(const RequestFields& fields, RequestedIntent& out, Error& error) {
  if (!fields.policy_name) return true;
  const std::string_view given = fields.policy_name->substr(0, kPolicyNameMax + 1);
  if (given.empty() || given.size() > kPolicyNameMax) {
    return fail(error, checkPolicyName(given), Field::kPolicyName, std::string(given));
  }
  // The copy is checked, since another thread may still write to the caller's bytes.
  out.policy_name = PolicyName(given);
  const Reason reason = checkPolicyName(out.policy_name.view());
  if (reason == Reason::kNone) return true;
  fail(error, reason, Field::kPolicyName, std::string(out.policy_name.view()));
  out.policy_name = {};
  return false;
}

bool takeTransportHint(const RequestFields& fields, RequestedIntent& out, Error& error) {
  const auto transport = valueOfInteger<Transport>(fields.transport_hint);
  if (!transport && fields.surface != Surface::kLegacy) {
    return fail(error, Reason::kUnknownTransport, Field::kTransportHint, int64_t{fields.transport_hint});
  }
  out.transport_hint = transport.value_or(Transport::kUnspec);  // deployed: out of range is no hint
  return true;
}

}  // namespace

tl::expected<uint64_t, Reason> deadlineAfter(uint64_t now_ns, uint64_t budget_ns) {
  if (budget_ns > std::numeric_limits<uint64_t>::max() - now_ns) return tl::make_unexpected(Reason::kDeadlineOverflow);
  if (budget_ns > kDeadlineHorizonNs) return tl::make_unexpected(Reason::kDeadlineOutOfRange);
  return now_ns + budget_ns;
}

Error normalizeRequest(const RequestFields& fields, ValidationMode mode, uint64_t now_ns, RequestedIntent& out,
                       bool trusted_internal) {
  ::new (&out) RequestedIntent;  // an assignment, or parentheses, would also write what is to stay unset
  Error error;
  out.surface = fields.surface;
  out.schema_version = fields.schema_version;
  if (fields.tail_nonzero) {
    out.downgrades.add({Field::kStructSize, DowngradeReason::kTailIgnored, fields.struct_size, 0});
  }
  out.normalized = Normalized::kLayout;

  if (!takeReservedAndFlags(fields, out, error)) return error;
  out.normalized = Normalized::kFlags;
  if (!takeArguments(fields, out, error)) return error;
  out.normalized = Normalized::kArguments;
  if (!takeIntentType(fields, mode, trusted_internal, out, error)) return error;
  out.normalized = Normalized::kIntentType;
  if (!takePriority(fields, mode, out, error)) return error;
  out.normalized = Normalized::kPriority;
  if (!takeDeadline(fields, now_ns, out, error)) return error;
  out.normalized = Normalized::kDeadline;
  if (!takePolicyName(fields, out, error)) return error;
  out.normalized = Normalized::kPolicyName;
  if (!takeTransportHint(fields, out, error)) return error;
  out.normalized = Normalized::kAll;
  return error;
}

}  // namespace tent
