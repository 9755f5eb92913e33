#include "engine/batch.h"

#include <sys/eventfd.h>

#include "base/clock.h"

namespace tent {

void Batch::commit(size_t count, bool with_notice) {
  const std::lock_guard lock(mutex_);
  if (with_notice) notices_in_flight_.fetch_add(1, std::memory_order_relaxed);
  in_flight_.fetch_add(count + (with_notice ? 1 : 0), std::memory_order_relaxed);
  used_.fetch_add(count, std::memory_order_release);
  if (event_) {
    eventfd_t value = 0;
    eventfd_read(event_.get(), &value);
  }
}

void Batch::end(Task& task, TaskState state, uint64_t now_ns) {
  const std::shared_ptr<Batch> batch = std::move(task.batch);
  task.peer.reset();  // never the last: the engine holds its peers longer than their tasks do
  task.view.reset();
  task.ended_ns = now_ns;
  task.state.store(state, std::memory_order_release);
  batch->partEnded();
}

void Batch::end(Notice& notice, bool received) {
  notice.targets.clear();  // as a task's peer
  const std::shared_ptr<Batch> batch = std::move(notice.batch);
  if (!received) batch->notice_lost_.store(true, std::memory_order_relaxed);
  batch->notices_in_flight_.fetch_sub(1, std::memory_order_release);
  batch->partEnded();
}

TaskState Batch::stateOfNotices() const {
  if (notices_in_flight_.load(std::memory_order_acquire) > 0) return TaskState::kPending;
  return notice_lost_.load(std::memory_order_relaxed) ? TaskState::kFailed : TaskState::kCompleted;
}

void Batch::partEnded() {
  // Only the last one needs the lock; a count above one cannot reach zero here.
  size_t count = in_flight_.load(std::memory_order_relaxed);
  while (count > 1) {
    if (in_flight_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
  }
  const std::lock_guard lock(mutex_);
  if (in_flight_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  became_idle_.notify_all();
  setReadable();
}

void Batch::setReadable() {
  if (event_) eventfd_write(event_.get(), 1);
}

bool Batch::wait(std::optional<uint64_t> timeout_ns, const std::function<bool()>& help) {
  const uint64_t start_ns = monotonicNowNs();
  const auto elapsed = [&] { return monotonicNowNs() - start_ns; };
  while (!idle() && (!timeout_ns || elapsed() < *timeout_ns) && help()) {
  }
  std::unique_lock lock(mutex_);
  const auto is_idle = [this] { return idle(); };
  if (!timeout_ns) {
    became_idle_.wait(lock, is_idle);
    return true;
  }
  const uint64_t spent_ns = elapsed();
  const uint64_t left_ns = spent_ns < *timeout_ns ? *timeout_ns - spent_ns : 0;
  return became_idle_.wait_for(lock, boundedWait(left_ns), is_idle);
}

int Batch::waitableFd() {
  const std::lock_guard lock(mutex_);
  if (!event_) {
    event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (idle()) setReadable();
  }
  return event_.get();
}

}  // namespace tent
