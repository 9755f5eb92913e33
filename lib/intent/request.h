// A request on its two sides of validation: `RequestFields`, the values as some surface received them, unchecked; and
// `RequestedIntent`, what they mean once they were checked. Neither says what the request will get: that is policy's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "intent/downgrade.h"
#include "intent/policy_name.h"
#include "intent/values.h"

namespace tent {

inline constexpr uint32_t kRequestSchemaV1 = 1;

// How a caller gave a deadline: an absolute CLOCK_MONOTONIC time, or a budget from now that the conversion's turn in
// the order of checks turns into one.
struct DeadlineInput {
  enum class Kind : uint8_t { kAbsolute, kBudget };
  Kind kind = Kind::kAbsolute;
  uint64_t ns = 0;  // absolute 0: no deadline; budget 0: expires now
};

// Unchecked. Views and pointers are the caller's and need to live only as long as the call they are passed to.
struct RequestFields {
  Surface surface = Surface::kV1;
  uint32_t schema_version = kRequestSchemaV1;
  int32_t opcode = 0;
  uint32_t reserved_opcode = 0;
  bool has_source = true;      // the source pointer is not NULL
  uint64_t target_offset = 0;  // bytes
  uint64_t length = 0;         // bytes
  int32_t intent_type = 0;
  int32_t priority = 0;  // RequestedPriority numbers; on the legacy surface Priority numbers
  DeadlineInput deadline;
  std::optional<std::string_view> policy_name;
  int32_t transport_hint = 0;
  uint32_t reserved0 = 0;
  uint64_t flags = 0;
  uint32_t struct_size = 0;   // of the entry, for what tail_ignored reports
  bool tail_nonzero = false;  // bytes past the known fields are not all zero
};

enum class DeadlineState : uint8_t { kNone, kPending, kExpired };
std::string_view nameOf(DeadlineState state);

struct Deadline {
  DeadlineState state = DeadlineState::kNone;
  uint64_t deadline_ns = 0;   // CLOCK_MONOTONIC; 0 when none
  uint64_t remaining_ns = 0;  // at the time of normalization; 0 when none or expired
};

// How far normalization came, in the order of the checks: fields up to here are valid.
enum class Normalized : uint8_t {
  kNothing,
  kLayout,
  kFlags,
  kArguments,
  kIntentType,
  kPriority,
  kDeadline,
  kPolicyName,
  kAll
};

// What the caller asked, checked and in canonical values. Self-contained: refers to no memory of the caller.
struct RequestedIntent {
  Surface surface = Surface::kV1;
  Normalized normalized = Normalized::kNothing;
  uint32_t schema_version = kRequestSchemaV1;
  Opcode opcode = Opcode::kRead;
  uint64_t target_offset = 0;
  uint64_t length = 0;
  IntentType intent_type = IntentType::kUnspec;
  RequestedPriority priority = RequestedPriority::kUnspec;
  Deadline deadline;
  PolicyName policy_name;  // empty: none asked
  Transport transport_hint = Transport::kUnspec;
  uint64_t flags = 0;
  Downgrades downgrades;
};

}  // namespace tent
