// What an engine tells about the transfers of a batch. Values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "intent/values.h"
#include "transport/backend.h"

namespace tent {

// The numbers are those of the C API.
enum class TaskState : int32_t {
  kWaiting = 0,  // of a slot that no request took
  kPending = 1,
  kInvalid = 2,
  kCanceled = 3,
  kCompleted = 4,
  kTimeout = 5,
  kFailed = 6,
};
std::string_view nameOf(TaskState state);  // "waiting", "pending", ...
constexpr bool isTerminal(TaskState state) {
  return state != TaskState::kWaiting && state != TaskState::kPending;
}

struct TaskStatus {
  TaskState state = TaskState::kWaiting;
  uint64_t transferred_bytes = 0;  // all or, before the end and after a failure, none
};

// One try to carry a request.
struct Attempt {
  Transport transport = Transport::kUnspec;
  Reason reason = Reason::kNone;                // kNone: it succeeded
  Aftermath aftermath = Aftermath::kUntouched;  // of a failure
  bool staged = false;                          // through staging buffers
};

// All about one task, for reports.
struct TaskReport {
  TaskStatus status;
  Error error;  // of a task that failed; the index is the task's
  std::array<Attempt, kTransportCount> attempts{};
  size_t attempt_count = 0;
  uint64_t dispatch_order = 0;  // position among all that this engine handed to a transport, from 1; 0 not yet
  uint64_t submitted_ns = 0;    // CLOCK_MONOTONIC
  uint64_t ended_ns = 0;        // 0: not yet

  // The transport that carried it; unspec before it is completed.
  Transport carriedBy() const {
    return status.state == TaskState::kCompleted && attempt_count > 0 ? attempts[attempt_count - 1].transport
                                                                      : Transport::kUnspec;
  }
};

}  // namespace tent
