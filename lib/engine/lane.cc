#include "engine/lane.h"

#include <utility>

#include "engine/peer.h"
#include "engine/wire.h"

namespace tent {
namespace {

Task& taskOf(uint64_t token) {
  return *reinterpret_cast<Task*>(static_cast<uintptr_t>(token));  // NOLINT(performance-no-int-to-ptr): pump set it
}

}  // namespace

bool Lane::roomLeft() const {
  return outstanding_transfers_ < capabilities_.queue_transfers &&
         (outstanding_bytes_ < capabilities_.queue_bytes || outstanding_transfers_ == 0);
}

bool Lane::somethingWaits() const {
  for (const Queue& queue : waiting_) {
    if (queue.first != nullptr) return true;
  }
  return false;
}

Task* Lane::takeFirst() {
  for (Queue& queue : waiting_) {
    if (queue.first == nullptr) continue;
    Task* task = std::exchange(queue.first, queue.first->next);
    if (queue.first == nullptr) queue.last = nullptr;
    return task;
  }
  return nullptr;
}

bool Lane::takeOut(Task& task) {
  Queue& queue = waiting_[static_cast<size_t>(task.priority)];
  Task* previous = nullptr;
  for (Task* at = queue.first; at != nullptr; previous = at, at = at->next) {
    if (at != &task) continue;
    (previous != nullptr ? previous->next : queue.first) = task.next;
    if (queue.last == &task) queue.last = previous;
    return true;
  }
  return false;
}

void Lane::takeAll(std::vector<Task*>& out) {
  while (Task* task = takeFirst()) out.push_back(task);
}

void Lane::beginAttempt(Task& task) const {
  task.attempts[task.attempt_count++].transport = transport_;
  task.attempt_incident = peer_.health(transport_).incident();
  task.attempt_open = true;
}

void Lane::report(Task& task, Reason reason, const std::string& detail) {
  Completion completion;
  completion.reason = reason;
  completion.detail = detail;
  host_.attemptEnded(task, completion);
}

void Lane::push(std::span<Task* const> tasks) {
  bool must_open = false;
  bool refused = false;
  {
    const std::lock_guard lock(mutex_);
    refused = shut_down_;
    for (Task* task : tasks) {
      if (refused) break;
      task->lane.store(this, std::memory_order_release);
      task->next = nullptr;
      Queue& queue = waiting_[static_cast<size_t>(task->priority)];
      (queue.last != nullptr ? queue.last->next : queue.first) = task;
      queue.last = task;
    }
    if (!refused && link_ == nullptr && !opening_) must_open = opening_ = true;
  }
  if (refused) {
    for (Task* task : tasks) report(*task, shut_down_why_.reason, shut_down_why_.detail);
    return;
  }
  if (must_open) host_.openLink(shared_from_this());
  pump();
}

void Lane::pump() {
  std::unique_lock lock(mutex_);
  if (pumping_) return;
  pumping_ = true;
  std::array<Transfer, kBurst> burst;
  while (link_ != nullptr && !link_->ended() && somethingWaits() && roomLeft()) {
    size_t count = 0;
    while (count < kBurst && roomLeft()) {
      Task* task = takeFirst();
      if (task == nullptr) break;
      task->transfer.token = reinterpret_cast<uintptr_t>(task);
      task->transfer.region = task->buffer->regionFor(transport_);
      beginAttempt(*task);
      if (task->dispatch_order == 0) task->dispatch_order = host_.nextDispatchOrder();
      ++outstanding_transfers_;
      outstanding_bytes_ += task->transfer.length;
      burst[count++] = task->transfer;
    }
    const std::shared_ptr<Link> link = link_;
    lock.unlock();
    link->submit({burst.data(), count});
    lock.lock();
  }
  pumping_ = false;
}

bool Lane::cancel(Task& task) {
  std::shared_ptr<Link> link;
  bool waited = false;
  {
    const std::lock_guard lock(mutex_);
    waited = takeOut(task);
    link = link_;
  }
  if (!waited) return link != nullptr && link->cancel(reinterpret_cast<uintptr_t>(&task));
  report(task, Reason::kCanceled, "");
  return true;
}

void Lane::completed(Completion completion) noexcept {
  Task& task = taskOf(completion.token);
  {
    const std::lock_guard lock(mutex_);
    --outstanding_transfers_;
    outstanding_bytes_ -= task.transfer.length;
  }
  host_.attemptEnded(task, completion);
  pump();
}

void Lane::closed(const Error& why) noexcept {
  bool must_open = false;
  {
    const std::lock_guard lock(mutex_);
    if (link_ == nullptr) {
      // It ended before it was handed over.
      ended_early_ = why;
      return;
    }
    ended_links_.push_back(std::move(link_));
    link_ = nullptr;
    // What has not begun is not lost with the link: another one is tried, and its failure, if it is one, is theirs.
    if (!shut_down_ && somethingWaits() && !opening_) must_open = opening_ = true;
  }
  if (must_open) host_.openLink(shared_from_this());
}

void Lane::attach(std::unique_ptr<Link> link) {
  std::optional<Error> ended;
  std::vector<std::shared_ptr<Link>> done_with;
  {
    const std::lock_guard lock(mutex_);
    opening_ = false;
    ended = std::exchange(ended_early_, std::nullopt);
    if (shut_down_) ended = shut_down_why_;
    done_with.swap(ended_links_);
    (ended ? ended_links_.emplace_back() : link_) = std::move(link);
  }
  done_with.clear();
  if (ended) {
    failWaiting(*ended);
  } else {
    pump();
  }
}

void Lane::failWaiting(const Error& why) {
  std::vector<Task*> tasks;
  {
    const std::lock_guard lock(mutex_);
    opening_ = false;
    takeAll(tasks);
    for (Task* task : tasks) beginAttempt(*task);
  }
  for (Task* task : tasks) report(*task, why.reason, why.detail);
}

void Lane::openFailed(const Error& why) {
  failWaiting(why);
}

void Lane::shutDown(const Error& why) {
  std::shared_ptr<Link> link;
  {
    const std::lock_guard lock(mutex_);
    shut_down_ = true;
    shut_down_why_ = why;
    link = link_;
  }
  if (link != nullptr) link->close(why);
  failWaiting(why);
}

bool Lane::progress() {
  const std::shared_ptr<Link> present = link();
  return present != nullptr && present->progress();
}

std::shared_ptr<Link> Lane::link() {
  const std::lock_guard lock(mutex_);
  return link_;
}

}  // namespace tent
