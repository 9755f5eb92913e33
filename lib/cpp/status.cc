#include "tent/status.h"

#include <algorithm>
#include <utility>

#include "cpp/results.h"

namespace tent {
inline namespace v1 {

Status::Status(const tent_result_t& result)
    : code_(static_cast<Code>(result.category)),
      reason_(result.reason),
      field_(result.field),
      index_(result.index),
      failing_(result.failing),
      code_name_(result.category_name),
      reason_name_(result.reason_name),
      field_name_(result.field_name),
      message_(result.message) {}

std::string Status::toString() const {
  if (ok()) return code_name_;
  std::string text = code_name_;
  text.append("/").append(reason_name_).append(": ").append(message_);
  return text;
}

Status lastStatus() {
  tent_result_t result = TENT_RESULT_INIT;
  tent_last_error(&result);
  return Status(result);
}

Status checkNotification(const Notification& notification) {
  if (hasNul(notification.name)) return refusal(kBadNotification, "its name holds a NUL byte");
  if (hasNul(notification.msg)) return refusal(kBadNotification, "its message holds a NUL byte");
  return {};
}

Status refusal(const Refusal& what, const std::string& message) {
  tent_result_t result = TENT_RESULT_INIT;
  result.category = what.code;
  result.reason = what.reason;
  result.field = what.field;
  result.category_name = what.code_name;
  result.reason_name = what.reason_name;
  result.field_name = what.field_name;
  std::copy_n(message.begin(), std::min(message.size(), sizeof result.message - 1), result.message);
  return Status(result);
}

}  // namespace v1
}  // namespace tent
