#include "engine/engine.h"

namespace tent {

std::string_view nameOf(TaskState state) {
  switch (state) {
    case TaskState::kWaiting: return "waiting";
    case TaskState::kPending: return "pending";
    case TaskState::kInvalid: return "invalid";
    case TaskState::kCanceled: return "canceled";
    case TaskState::kCompleted: return "completed";
    case TaskState::kTimeout: return "timeout";
    case TaskState::kFailed: return "failed";
  }
  return "";
}

std::string_view nameOf(Permission permission) {
  switch (permission) {
    case Permission::kLocalReadWrite: return "local_read_write";
    case Permission::kGlobalReadOnly: return "global_read_only";
    case Permission::kGlobalReadWrite: return "global_read_write";
  }
  return "";
}

}  // namespace tent
