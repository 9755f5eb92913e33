#include "base/error.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace tent {
namespace {

struct ReasonInfo {
  Reason reason;
  Category category;
  std::string_view name;
  std::string_view sentence;  // "{}" stands for the offending value
};

constexpr std::array<ReasonInfo, kReasonCount> kReasons = {{
    {Reason::kNone, Category::kOk, "", ""},
    {Reason::kDeadlineExpired, Category::kRuntimeError, "deadline_expired",
     "the deadline had passed before the transfer was admitted"},
    {Reason::kAdmissionQueueFull, Category::kRuntimeError, "admission_queue_full",
     "the admission queue is full; retry later or raise the contract's limits"},
    {Reason::kCanceled, Category::kRuntimeError, "canceled", "the transfer was canceled"},
    {Reason::kTimeout, Category::kRuntimeError, "timeout", "the transfer did not finish in time"},
    {Reason::kPeerUnreachable, Category::kRuntimeError, "peer_unreachable",
     "the peer cannot be reached; check its address and that it is serving"},
    {Reason::kPeerLost, Category::kRuntimeError, "peer_lost",
     "the connection to the peer was lost during the transfer"},
    {Reason::kAuthFailed, Category::kRuntimeError, "auth_failed",
     "the peer refused the authentication; both ends need the same token"},
    {Reason::kStaleSegment, Category::kRuntimeError, "stale_segment",
     "the peer was restarted since its segment was opened; close the segment and open it again"},
    {Reason::kRegistrationFailed, Category::kRuntimeError, "registration_failed",
     "the memory could not be registered or released"},
    {Reason::kResourceExhausted, Category::kRuntimeError, "resource_exhausted",
     "a resource limit of this process or host was reached"},
    {Reason::kIoError, Category::kRuntimeError, "io_error", "an input or output operation failed"},
    {Reason::kBadConfiguration, Category::kRuntimeError, "bad_configuration",
     "the engine configuration cannot be used"},
    {Reason::kInternal, Category::kRuntimeError, "internal", "an internal error; please report it"},
    {Reason::kSchemaUnknown, Category::kUnsupportedSchema, "schema_unknown",
     "this library does not know request schema {}; it knows schema 1"},
    {Reason::kSchemaMismatch, Category::kUnsupportedSchema, "schema_mismatch",
     "the entry says schema {}, the call says another; both must agree"},
    {Reason::kStrideTooSmall, Category::kInvalidLayout, "stride_too_small",
     "entry_stride {} is less than the schema's minimum size"},
    {Reason::kStrideTooLarge, Category::kInvalidLayout, "stride_too_large", "entry_stride {} is more than 65536"},
    {Reason::kMisaligned, Category::kInvalidLayout, "misaligned",
     "the entries are not aligned for their fields: base and stride must be multiples of the entry's alignment"},
    {Reason::kStructSizeTooSmall, Category::kInvalidLayout, "struct_size_too_small",
     "struct_size {} is less than the schema's minimum size; was it set to sizeof the entry?"},
    {Reason::kStructSizeTooLarge, Category::kInvalidLayout, "struct_size_too_large",
     "struct_size {} is more than the stride or than 4096"},
    {Reason::kStructSizeSplitsField, Category::kInvalidLayout, "struct_size_splits_field",
     "struct_size {} ends in the middle of a field"},
    {Reason::kCountOverflow, Category::kInvalidLayout, "count_overflow",
     "count x entry_stride exceeds the address space"},
    {Reason::kNullEngine, Category::kInvalidArgument, "null_engine", "the engine is NULL"},
    {Reason::kNullEntries, Category::kInvalidArgument, "null_entries", "entries is NULL and count is not 0"},
    {Reason::kNullSource, Category::kInvalidArgument, "null_source", "source is NULL"},
    {Reason::kZeroLength, Category::kInvalidArgument, "zero_length", "length is 0; a request moves at least one byte"},
    {Reason::kRangeOverflow, Category::kInvalidArgument, "range_overflow",
     "target_offset {} plus the length wraps around"},
    {Reason::kBadBatch, Category::kInvalidArgument, "bad_batch", "there is no such batch"},
    {Reason::kBatchFull, Category::kInvalidArgument, "batch_full",
     "the batch has no room for these requests; allocate a larger one"},
    {Reason::kUnknownSegment, Category::kInvalidArgument, "unknown_segment", "there is no such segment; open it first"},
    {Reason::kOutOfRange, Category::kInvalidArgument, "out_of_range", "the range lies outside every registered buffer"},
    {Reason::kPermissionDenied, Category::kInvalidArgument, "permission_denied",
     "the target's buffer does not permit this operation"},
    {Reason::kNullNotification, Category::kInvalidArgument, "null_notification", "the notification is NULL"},
    {Reason::kNotificationTooLong, Category::kInvalidArgument, "notification_too_long",
     "the notification is too long: a name has at most 255 bytes, a message 4095"},
    {Reason::kUnknownOpcode, Category::kInvalidEnum, "unknown_opcode",
     "no opcode has the value {}; read is 0, write is 1"},
    {Reason::kUnknownIntentType, Category::kInvalidEnum, "unknown_intent_type",
     "no intent type has the value {}; compatibility mode would take it as unspec"},
    {Reason::kUnknownPriority, Category::kInvalidEnum, "unknown_priority",
     "no requested priority has the value {} (unspec 0, high 1, medium 2, low 3); compatibility mode would take it as "
     "unspec"},
    {Reason::kUnknownTransport, Category::kInvalidEnum, "unknown_transport", "no transport has the value {}"},
    {Reason::kReservedNonzero, Category::kInvalidFlags, "reserved_nonzero", "a reserved field holds {}; it must be 0"},
    {Reason::kUnknownFlags, Category::kInvalidFlags, "unknown_flags",
     "flags {} has required bits (0 to 31) that this version does not know; v1 defines none"},
    {Reason::kPolicyEmpty, Category::kInvalidPolicy, "policy_empty",
     "policy_name is empty; leave it out (NULL) to ask for none"},
    {Reason::kPolicyTooLong, Category::kInvalidPolicy, "policy_too_long", "policy_name is longer than 127 bytes"},
    {Reason::kPolicyBadCharacter, Category::kInvalidPolicy, "policy_bad_character",
     "policy_name {} has a character that is not allowed; use A-Z a-z 0-9 . _ - and begin with a letter or digit"},
    {Reason::kPolicyUnknown, Category::kInvalidPolicy, "policy_unknown",
     "no transport policy for this kind of segment is named {}"},
    {Reason::kPolicyUnauthorized, Category::kInvalidPolicy, "policy_unauthorized",
     "the contract does not allow the policy {} (allowed_policies)"},
    {Reason::kDeadlineOverflow, Category::kDeadlineError, "deadline_overflow",
     "now plus a budget of {} ns exceeds 64 bits"},
    {Reason::kDeadlineOutOfRange, Category::kDeadlineError, "deadline_out_of_range",
     "the deadline {} ns is more than 30 days away; was a wall-clock time passed? Deadlines are CLOCK_MONOTONIC times "
     "of this host"},
    {Reason::kTransportNotBuilt, Category::kUnsupportedField, "transport_not_built",
     "the transport {} is not in this build"},
    {Reason::kHintNotInPolicy, Category::kTransportUnauthorized, "hint_not_in_policy",
     "the transport policy does not list the hinted transport {}"},
    {Reason::kHintNotInContract, Category::kTransportUnauthorized, "hint_not_in_contract",
     "the contract does not allow the hinted transport {} (allowed_transports)"},
    {Reason::kHintUnavailable, Category::kTransportUnauthorized, "hint_unavailable",
     "the hinted transport {} cannot carry this request, and a hint is never silently replaced"},
    {Reason::kNoTransport, Category::kTransportUnauthorized, "no_transport",
     "no authorized transport can carry this request"},
    {Reason::kStagingInternalReserved, Category::kUnauthorizedIntent, "staging_internal_reserved",
     "staging_internal is reserved for TENT's own hops; applications use another intent"},
    {Reason::kPriorityAboveContract, Category::kUnauthorizedPriority, "priority_above_contract",
     "the priority {} is above what the contract allows, and the contract says reject"},
}};

constexpr bool inOrder() {
  for (int i = 0; i < kReasonCount; ++i) {
    if (kReasons[static_cast<size_t>(i)].reason != static_cast<Reason>(i)) return false;
  }
  return true;
}
static_assert(inOrder(), "kReasons is indexed by Reason");

const ReasonInfo& infoOf(Reason reason) {
  return kReasons[static_cast<size_t>(reason)];
}

std::string textOf(const ErrorValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return '"' + escapeForTerminal(*text) + '"';
  return "(none)";
}

}  // namespace

Category categoryOf(Reason reason) {
  return infoOf(reason).category;
}

std::string_view nameOf(Category category) {
  switch (category) {
    case Category::kOk: return "ok";
    case Category::kRuntimeError: return "runtime_error";
    case Category::kUnsupportedSchema: return "unsupported_schema";
    case Category::kInvalidLayout: return "invalid_layout";
    case Category::kInvalidArgument: return "invalid_argument";
    case Category::kInvalidEnum: return "invalid_enum";
    case Category::kInvalidFlags: return "invalid_flags";
    case Category::kInvalidPolicy: return "invalid_policy";
    case Category::kDeadlineError: return "deadline_error";
    case Category::kUnsupportedField: return "unsupported_field";
    case Category::kTransportUnauthorized: return "transport_unauthorized";
    case Category::kUnauthorizedIntent: return "unauthorized_intent";
    case Category::kUnauthorizedPriority: return "unauthorized_priority";
  }
  return "";
}

std::string_view nameOf(Reason reason) {
  return infoOf(reason).name;
}

std::string_view nameOf(Field field) {
  switch (field) {
    case Field::kNone: return "";
    case Field::kEngine: return "engine";
    case Field::kBatch: return "batch";
    case Field::kEntries: return "entries";
    case Field::kCount: return "count";
    case Field::kEntryStride: return "entry_stride";
    case Field::kStructSize: return "struct_size";
    case Field::kSchemaVersion: return "schema_version";
    case Field::kReservedOpcode: return "reserved_opcode";
    case Field::kReserved0: return "reserved0";
    case Field::kFlags: return "flags";
    case Field::kOpcode: return "opcode";
    case Field::kSource: return "source";
    case Field::kLength: return "length";
    case Field::kTargetOffset: return "target_offset";
    case Field::kTargetId: return "target_id";
    case Field::kIntentType: return "intent_type";
    case Field::kRequestedPriority: return "requested_priority";
    case Field::kDeadlineNs: return "deadline_ns";
    case Field::kPolicyName: return "policy_name";
    case Field::kTransportHint: return "transport_hint";
    case Field::kNotification: return "notification";
  }
  return "";
}

std::string messageOf(const Error& error) {
  if (error.place_of_detail == Error::Detail::kInstead && !error.detail.empty()) return escapeForTerminal(error.detail);
  std::string_view sentence = infoOf(error.reason).sentence;
  std::string message;
  if (const size_t hole = sentence.find("{}"); hole != std::string_view::npos) {
    message = fmt::format("{}{}{}", sentence.substr(0, hole), textOf(error.value), sentence.substr(hole + 2));
  } else {
    message = sentence;
  }
  if (!error.detail.empty()) message += ": " + error.detail;
  return escapeForTerminal(message);
}

}  // namespace tent
