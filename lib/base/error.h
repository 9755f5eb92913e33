// Error categories and reasons: the one vocabulary in which every surface says why a request was not carried out.
//
// A `Reason` is the finest stable word; it belongs to exactly one `Category`, which has a stable name and a stable C
// return code. Names and codes never change once published. An error is classified once, where it first happens, as a
// plain value (`Error`); its message for people is rendered on demand, so that rejecting allocates nothing by itself.
//
// Thread safety: values; all functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tent {

// The value is the C return code.
enum class Category : int32_t {
  kOk = 0,
  kRuntimeError = -1,
  kUnsupportedSchema = -2,
  kInvalidLayout = -3,
  kInvalidArgument = -4,
  kInvalidEnum = -5,
  kInvalidFlags = -6,
  kInvalidPolicy = -7,
  kDeadlineError = -8,
  kUnsupportedField = -9,
  kTransportUnauthorized = -10,
  kUnauthorizedIntent = -11,
  kUnauthorizedPriority = -12,
};

enum class Reason : uint8_t {
  kNone,
  // runtime_error
  kDeadlineExpired,
  kAdmissionQueueFull,
  kCanceled,
  kTimeout,
  kPeerUnreachable,
  kPeerLost,
  kAuthFailed,
  kStaleSegment,
  kRegistrationFailed,
  kResourceExhausted,
  kIoError,
  kBadConfiguration,
  kInternal,
  // unsupported_schema
  kSchemaUnknown,
  kSchemaMismatch,
  // invalid_layout
  kStrideTooSmall,
  kStrideTooLarge,
  kMisaligned,
  kStructSizeTooSmall,
  kStructSizeTooLarge,
  kStructSizeSplitsField,
  kCountOverflow,
  // invalid_argument
  kNullEngine,
  kNullEntries,
  kNullSource,
  kZeroLength,
  kRangeOverflow,
  kBadBatch,
  kBatchFull,
  kUnknownSegment,
  kOutOfRange,
  kPermissionDenied,
  kNullNotification,
  kNotificationTooLong,
  // invalid_enum
  kUnknownOpcode,
  kUnknownIntentType,
  kUnknownPriority,
  kUnknownTransport,
  // invalid_flags
  kReservedNonzero,
  kUnknownFlags,
  // invalid_policy
  kPolicyEmpty,
  kPolicyTooLong,
  kPolicyBadCharacter,
  kPolicyUnknown,
  kPolicyUnauthorized,
  // deadline_error
  kDeadlineOverflow,
  kDeadlineOutOfRange,
  // unsupported_field
  kTransportNotBuilt,
  // transport_unauthorized
  kHintNotInPolicy,
  kHintNotInContract,
  kHintUnavailable,
  kNoTransport,
  // unauthorized_intent
  kStagingInternalReserved,
  // unauthorized_priority
  kPriorityAboveContract,
};

inline constexpr int kReasonCount = static_cast<int>(Reason::kPriorityAboveContract) + 1;

// The field of a request, or the argument of a call, that an error or a downgrade is about.
enum class Field : uint8_t {
  kNone,
  kEngine,
  kBatch,
  kEntries,
  kCount,
  kEntryStride,
  kStructSize,
  kSchemaVersion,
  kReservedOpcode,
  kReserved0,
  kFlags,
  kOpcode,
  kSource,
  kLength,
  kTargetOffset,
  kTargetId,
  kIntentType,
  kRequestedPriority,
  kDeadlineNs,
  kPolicyName,
  kTransportHint,
  kNotification,
};

inline constexpr int kFieldCount = static_cast<int>(Field::kNotification) + 1;

// The offending value: absent, an integer exactly as it was given, or text.
using ErrorValue = std::variant<std::monostate, int64_t, uint64_t, std::string>;

// Why an entry, or a call, was not carried out.
struct Error {
  // What `detail` is to the message. The reasons of calls are few, so that some say little of what was wrong with one.
  enum class Detail : uint8_t { kBehind, kInstead };  // behind the reason's sentence, or instead of it

  Reason reason = Reason::kNone;
  Field field = Field::kNone;
  int64_t index = -1;  // the entry within the batch; -1: the call as a whole
  ErrorValue value;
  std::string detail;  // what only the place of the error knows; becomes part of the message
  Detail place_of_detail = Detail::kBehind;

  explicit operator bool() const { return reason != Reason::kNone; }
};

// One of the call as a whole, about no field.
inline Error errorOf(Reason reason, std::string detail) {
  return {reason, Field::kNone, -1, {}, std::move(detail)};
}

// One of which the detail is the whole message, since the reason's sentence does not fit.
inline Error errorSaying(Reason reason, Field field, ErrorValue value, std::string message) {
  return {reason, field, -1, std::move(value), std::move(message), Error::Detail::kInstead};
}

Category categoryOf(Reason reason);
constexpr int32_t codeOf(Category category) {
  return static_cast<int32_t>(category);
}

// Stable lower-case names, as in JSON ("invalid_enum", "unknown_opcode", "transport_hint"); "" for kNone.
std::string_view nameOf(Category category);
std::string_view nameOf(Reason reason);
std::string_view nameOf(Field field);

// One sentence for people: what was wrong, with the value, and what to do about it. Safe for a terminal, whatever a
// value or a detail holds.
std::string messageOf(const Error& error);

}  // namespace tent
