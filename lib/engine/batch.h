// A batch and its tasks: what is known of each transfer from its submit to its end, and the waiting for all of them.
//
// A task is owned by one place at a time: the submit that fills it, the lane it waits in, the link that carries it, the
// thread that ends it. What others may read meanwhile is its state; all the rest is readable once the state is
// terminal, which is stored last. A task in flight keeps its batch alive, so freeing a batch early cannot take it from
// under a completing thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "engine/admission_queue.h"
#include "engine/task.h"
#include "transport/backend.h"

namespace tent {

class Batch;
class Lane;
struct Notice;
class Peer;
struct PeerBuffer;
struct PeerView;
struct StagedChunk;

struct Task {
  // Set by submit.
  Transfer transfer;
  Priority priority = Priority::kHigh;
  TransportList route;  // the plan's primary, then its fallbacks
  TransportSet staged;  // those of them that go through staging buffers
  std::shared_ptr<Peer> peer;
  std::shared_ptr<const PeerView> view;  // holds the buffer
  const PeerBuffer* buffer = nullptr;    // the target
  std::shared_ptr<Batch> batch;          // while in flight
  std::shared_ptr<Notice> notice;        // while in flight; nullptr: none
  uint64_t submitted_ns = 0;
  uint64_t deadline_ns = 0;  // CLOCK_MONOTONIC; 0: none, or it had passed already
  Turn turn;
  StagedChunk* chunk = nullptr;  // whose hop over a lane this is, of a task that no batch knows; else nullptr

  // While in flight.
  Task* next = nullptr;           // in its lane's queue
  bool attempt_open = false;      // the last attempt has begun and not ended
  uint32_t attempt_incident = 0;  // of the last attempt, in its transport's health
  std::atomic<Lane*> lane{nullptr};
  std::atomic<bool> cancel_wanted{false};
  size_t attempt_count = 0;
  std::array<Attempt, kTransportCount> attempts{};
  uint64_t dispatch_order = 0;

  // The end.
  Error error;
  uint64_t ended_ns = 0;
  std::atomic<TaskState> state{TaskState::kWaiting};
};

// A notification that follows the tasks of one submit. It counts as in flight in its batch.
struct Notice {
  std::string name;
  std::string message;
  std::shared_ptr<Batch> batch;
  std::vector<std::shared_ptr<Peer>> targets;
  std::atomic<size_t> tasks_left{0};
  std::atomic<size_t> answers_left{0};
  std::atomic<bool> failed{false};  // a task did not complete, or a target did not take it
};

class Batch {
 public:
  explicit Batch(size_t capacity) : tasks_(std::make_unique<Task[]>(capacity)), capacity_(capacity) {}

  // ---- filling; one submit at a time, under submitMutex()
  std::mutex& submitMutex() { return submit_mutex_; }
  size_t room() const { return capacity_ - used_.load(std::memory_order_relaxed); }
  // The next slots; `count` is at most room().
  std::span<Task> slots(size_t count) { return {&tasks_[used_.load(std::memory_order_relaxed)], count}; }
  // Takes the next `count` slots as tasks in flight, and with them the notice that follows them.
  void commit(size_t count, bool with_notice = false);

  // ---- tasks; any thread
  size_t used() const { return used_.load(std::memory_order_acquire); }
  Task* task(size_t index) { return index < used() ? &tasks_[index] : nullptr; }
  bool idle() const { return in_flight_.load(std::memory_order_acquire) == 0; }

  // Ends a task, which nobody may use through the caller any more; may destroy the batch.
  static void end(Task& task, TaskState state, uint64_t now_ns);

  // Ends a notice, of which all tasks have ended.
  static void end(Notice& notice, bool received);
  // Pending while a notice is in flight; failed when one was not received; else completed.
  TaskState stateOfNotices() const;

  // Until idle; `help` is called while there is work that it finds, before sleeping. False when the time passed.
  bool wait(std::optional<uint64_t> timeout_ns, const std::function<bool()>& help);
  // -1 when the system has no more descriptors.
  int waitableFd();

 private:
  void partEnded();
  void setReadable();

  const std::unique_ptr<Task[]> tasks_;
  const size_t capacity_;
  std::mutex submit_mutex_;
  std::atomic<size_t> used_{0};
  std::atomic<size_t> in_flight_{0};  // tasks and notices
  std::atomic<size_t> notices_in_flight_{0};
  std::atomic<bool> notice_lost_{false};

  std::mutex mutex_;  // of what follows, and of every change of in_flight_ from or to 0
  std::condition_variable became_idle_;
  Fd event_;
};

}  // namespace tent
