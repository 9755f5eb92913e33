// Dispatch: tasks that may run, on their way to the lanes.
#include <array>
#include <utility>

#include "base/clock.h"
#include "engine/engine_impl.h"
#include "engine/staged_transfers.h"

namespace tent {
namespace {

// Hands tasks to their lanes, together where several in a row have the same one.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): tasks_ is filled up to count_
class LaneGroup {
 public:
  void add(Task& task) {
    Lane* const its = task.peer->lane(*task.route.begin());
    if (its != lane_ || count_ == tasks_.size()) flush();
    lane_ = its;
    tasks_[count_++] = &task;
  }
  void flush() {
    if (count_ > 0) lane_->push({tasks_.data(), std::exchange(count_, 0)});
  }

 private:
  Lane* lane_ = nullptr;
  size_t count_ = 0;
  std::array<Task*, 256> tasks_;
};

}  // namespace

// By priority, so that what is urgent is not behind what came with it; what goes the same way is handed over together.
void Engine::Impl::dispatch(std::span<Task> tasks) {
  LaneGroup group;
  for (const Priority priority : {Priority::kHigh, Priority::kMedium, Priority::kLow}) {
    for (Task& task : tasks) {
      // What waits for its turn is not this thread's any more: nothing else of it may be looked at.
      if (task.turn.waits()) continue;
      if (task.priority != priority || task.state.load(std::memory_order_relaxed) != TaskState::kPending) continue;
      if (task.error) {
        endTask(task, TaskState::kFailed);
      } else if (task.peer == nullptr) {
        endTask(task, TaskState::kCompleted);
      } else if (const Transport first = *task.route.begin(); task.staged.has(first)) {
        handOver(task, first);
      } else {
        group.add(task);
      }
    }
    group.flush();
  }
}

void Engine::Impl::handOver(Task& task, Transport transport) {
  if (task.staged.has(transport)) return staged()->push(task, transport);
  const std::shared_ptr<Peer> peer = task.peer;  // owns the lane, and may outlive the task's hold on it
  Task* const one = &task;
  peer->lane(transport)->push({&one, 1});
}

void Engine::Impl::admitted(std::span<Task* const> tasks) noexcept {
  const uint64_t now_ns = monotonicNowNs();
  LaneGroup group;
  for (Task* task : tasks) {
    if (task->cancel_wanted.load(std::memory_order_relaxed)) {
      task->error = errorOf(Reason::kCanceled, "");
      endTask(*task, TaskState::kCanceled);
    } else if (task->turn.reject_expired && task->turn.deadline_ns != 0 && task->turn.deadline_ns <= now_ns) {
      task->error = {Reason::kDeadlineExpired, Field::kDeadlineNs, -1, task->turn.deadline_ns,
                     "it had to wait for room under its contract"};
      endTask(*task, TaskState::kFailed);
    } else if (const Transport first = *task->route.begin(); task->staged.has(first)) {
      handOver(*task, first);
    } else {
      group.add(*task);
    }
  }
  group.flush();
}

}  // namespace tent
