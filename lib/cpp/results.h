// What the functions of the C API return, as statuses; and what C++ can say that C cannot: texts that hold a NUL byte,
// and lists of different lengths.
//
// Thread safety: the last error is each thread's own.
#pragma once

#include <cstdint>
#include <string>

#include "tent/engine.h"
#include "tent/status.h"

namespace tent {
inline namespace v1 {

// Of a call whose return value says whether it failed.
inline Status statusOf(int code) {
  return code == TENT_OK ? Status() : lastStatus();
}

struct Refusal {
  int32_t code;
  int32_t reason;
  int32_t field;
  const char* code_name;
  const char* reason_name;
  const char* field_name;
};
inline constexpr Refusal kBadConfiguration{TENT_ERROR_RUNTIME, TENT_REASON_BAD_CONFIGURATION, TENT_FIELD_NONE,
                                           "runtime_error",    "bad_configuration",           ""};
inline constexpr Refusal kUnknownSegment{TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_UNKNOWN_SEGMENT, TENT_FIELD_TARGET_ID,
                                         "invalid_argument",          "unknown_segment",           "target_id"};
inline constexpr Refusal kBadNotification{TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_NULL_NOTIFICATION,
                                          TENT_FIELD_NOTIFICATION,     "invalid_argument",
                                          "null_notification",         "notification"};
inline constexpr Refusal kBadRegistration{TENT_ERROR_RUNTIME, TENT_REASON_REGISTRATION_FAILED, TENT_FIELD_NONE,
                                          "runtime_error",    "registration_failed",           ""};
inline constexpr Refusal kBadBudget{TENT_ERROR_DEADLINE, TENT_REASON_DEADLINE_OUT_OF_RANGE, TENT_FIELD_DEADLINE_NS,
                                    "deadline_error",    "deadline_out_of_range",           "deadline_ns"};

Status refusal(const Refusal& what, const std::string& message);

// null_notification.
Status checkNotification(const Notification& notification);

inline bool hasNul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

}  // namespace v1
}  // namespace tent
