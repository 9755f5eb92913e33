// The requests of one tenant and one intent that wait for room under its contract, and whose turn is next.
//
// Invariants
//  1. The order is that of effective priority, then of the earliest deadline (none comes last), then of arrival.
//  2. Aging: one of every kAgedShare turns is that of the request that has waited longest, once it has waited
//     kAgedAfterNs; so a stream of more urgent requests delays the others, and starves none.
//
// Thread safety: none; its owner locks. Time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <set>

#include "intent/values.h"

namespace tent {

struct Task;
class AdmissionHost;

// What of a contract bounds the work in flight. A limit of UINT64_MAX is none.
struct InflightLimits {
  uint64_t bytes = UINT64_MAX;
  uint64_t requests = UINT64_MAX;
};

// A task's place in admission.
struct Turn {
  enum class State : uint8_t {
    kNone,      // its contract has no limits, or it has left
    kWaiting,   // in a queue
    kReady,     // charged, and about to be handed to its host
    kAdmitted,  // charged
  };

  // Set by submit.
  bool limited = false;
  bool reject_expired = false;  // `admission.expired` is "reject"
  IntentType intent = IntentType::kUnspec;
  Priority priority = Priority::kHigh;
  uint64_t bytes = 0;
  uint64_t deadline_ns = 0;  // CLOCK_MONOTONIC; 0: none
  InflightLimits limits;     // those of the contract when it was submitted

  // Admission's. `at_once` is set before the submit ends, and then no more.
  bool at_once = false;
  State state = State::kNone;
  AdmissionHost* host = nullptr;
  uint64_t arrival = 0;  // a number
  uint64_t since_ns = 0;

  // Whether the submit left it to wait.
  bool waits() const { return limited && !at_once; }
};

class AdmissionQueue {
 public:
  static constexpr uint64_t kAgedAfterNs = 100'000'000;
  static constexpr unsigned kAgedShare = 4;

  // `memory` outlives the queue.
  explicit AdmissionQueue(std::pmr::memory_resource* memory) : by_urgency_(memory), by_arrival_(memory) {}

  size_t size() const { return by_arrival_.size(); }
  // The task stays its owner's, and is not changed before it is removed.
  void add(Task& task);
  void remove(Task& task);
  // Whose turn it is; nullptr when none waits.
  Task* next(uint64_t now_ns) const;
  // Takes out what next() gave.
  void take(Task& task, uint64_t now_ns);

  // In the order of arrival.
  const auto& waiting() const { return by_arrival_; }

 private:
  struct MoreUrgent {
    bool operator()(const Task* a, const Task* b) const;
  };
  struct Earlier {
    bool operator()(const Task* a, const Task* b) const;
  };

  Task* agedOne(uint64_t now_ns) const;

  std::pmr::set<Task*, MoreUrgent> by_urgency_;
  std::pmr::set<Task*, Earlier> by_arrival_;
  unsigned since_aged_ = 0;  // turns since the last that aging gave
};

}  // namespace tent
