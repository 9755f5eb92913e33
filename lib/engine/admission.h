// Admission: how much of a tenant's work of each intent is in flight in this process at once, as the tenant's contract
// says (`max_inflight_bytes`, `max_inflight_requests`), and who goes next when there is room again.
//
// Invariants
//  1. Requests whose contract sets neither limit never come here: nothing of theirs is counted or queued.
//  2. A request is charged as a whole from its admission until it has left, whatever is tried for it meanwhile; all
//     engines of a tenant in this process share what is charged.
//  3. Where nothing of the intent is in flight, one request always may be: what is larger than a limit runs alone.
//  4. Whose turn it is (AdmissionQueue) is not overtaken because it is large.
//  5. At most kWaitingMax wait for each intent. A submit that would make them more is refused as a whole.
//
// Thread safety: all members may be called from any thread. Hosts are called without a lock, and for one tenant by one
// thread at a time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/admission_queue.h"
#include "intent/policy_name.h"

namespace tent {

// Who gets the tasks that were admitted: their engine.
class AdmissionHost {
 public:
  virtual ~AdmissionHost() = default;
  // These tasks may run. In the order of their turns.
  virtual void admitted(std::span<Task* const> tasks) noexcept = 0;
};

class TenantAdmission {
 public:
  static constexpr size_t kWaitingMax = 16384;

  // The one of this process for the tenant; for as long as somebody holds it.
  static std::shared_ptr<TenantAdmission> of(const PolicyName& tenant);

  TenantAdmission();
  ~TenantAdmission() = default;
  TenantAdmission(const TenantAdmission&) = delete;
  TenantAdmission& operator=(const TenantAdmission&) = delete;

  struct Refusal {
    size_t first = 0;  // of the tasks, the first for which there is no room
    size_t count = 0;
  };

  // The entering of one submit's tasks. While it lives nothing is handed over, so that the submit can be completed
  // meanwhile. Follow it with handOver().
  class Entry {
   public:
    explicit Entry(TenantAdmission& admission) : admission_(admission), lock_(admission.mutex_) {}
    // Takes those of the tasks that are limited, all of them or none. Those that may run at once are so marked, and the
    // caller's to run; the others are handed to the host later.
    std::optional<Refusal> take(std::span<Task> tasks, AdmissionHost& host);

   private:
    TenantAdmission& admission_;
    std::unique_lock<std::mutex> lock_;
  };

  // Hands what is ready to its hosts, until nothing is.
  void handOver();
  // The task has ended: what it was charged with is free. Follow it with handOver(), which needs the task no more.
  void leave(Task& task);
  // Takes the task back before it is handed over; false when it has been. Follow it with handOver().
  bool takeOut(Task& task);
  // Takes back all of the host's that has not been handed over, and waits until the host is not being called.
  std::vector<Task*> takeAll(const AdmissionHost& host);
  // Takes back what waits for the same peer, to be carried in the same ways, as `task` of the same host does or did.
  // Follow it with handOver().
  std::vector<Task*> takeAlike(const Task& task);

  // How many wait, of all intents.
  size_t waiting() const;

 private:
  struct Intent {
    explicit Intent(std::pmr::memory_resource* memory) : queue(memory) {}
    AdmissionQueue queue;
    uint64_t bytes = 0;     // in flight
    uint64_t requests = 0;  // in flight
  };

  Intent& intentOf(const Task& task);
  static bool hasRoom(const Intent& intent, const Turn& turn);
  // Moves what there is room for from the queue to ready_.
  void admit(Intent& intent, uint64_t now_ns);
  void admitAll(uint64_t now_ns);
  void free(Task& task);
  std::optional<Refusal> overflow(std::span<Task> tasks) const;
  bool takeBack(Task& task);

  mutable std::mutex mutex_;
  std::pmr::unsynchronized_pool_resource memory_;  // keeps what the queues once needed
  std::vector<Intent> intents_;                    // by IntentType
  std::pmr::deque<Task*> ready_{&memory_};
  uint64_t arrivals_ = 0;
  bool handing_over_ = false;
  const AdmissionHost* called_ = nullptr;  // now
  std::condition_variable call_ended_;
};

}  // namespace tent
