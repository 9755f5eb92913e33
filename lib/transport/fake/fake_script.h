// What befalls the transfers of a fake backend, as a test says, and what the test can see of them.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "transport/backend.h"

namespace tent {

class FakeScript {
 public:
  struct Fate {
    enum class Kind : uint8_t {
      kComplete,
      kFail,       // after `bytes` were moved, with `reason` and `aftermath`
      kHold,       // waits for release(), then completes; those behind it on its link wait too
      kCloseLink,  // ends its link with `reason` before anything is moved
    };
    Kind kind = Kind::kComplete;
    Reason reason = Reason::kNone;
    Aftermath aftermath = Aftermath::kUntouched;
    uint64_t bytes = 0;
  };

  static Fate complete() { return {}; }
  static Fate failUntouched(Reason reason) { return {Fate::Kind::kFail, reason, Aftermath::kUntouched, 0}; }
  static Fate failSettled(Reason reason, uint64_t bytes) {
    return {Fate::Kind::kFail, reason, Aftermath::kSettled, bytes};
  }
  static Fate failUnsettled(Reason reason, uint64_t bytes) {
    return {Fate::Kind::kFail, reason, Aftermath::kUnsettled, bytes};
  }
  static Fate hold() { return {Fate::Kind::kHold, Reason::kNone, Aftermath::kUntouched, 0}; }
  static Fate closeLink(Reason reason) { return {Fate::Kind::kCloseLink, reason, Aftermath::kUntouched, 0}; }

  // The fate of the next transfer that has none yet. Transfers get theirs in the order in which they are submitted;
  // those after the last of the script get the usual one.
  void next(const Fate& fate, size_t count = 1);
  // Completion, until said otherwise.
  void usually(const Fate& fate);

  // Lets so many held transfers complete: those that are held, and then those that will be.
  void release(size_t count = kAll);
  static constexpr size_t kAll = SIZE_MAX;

  // New links fail with peer_unreachable.
  void refuseConnections(bool refuse);

  // A transfer that was submitted to a link.
  struct Seen {
    uint64_t token = 0;
    Direction direction = Direction::kRead;
    uint64_t remote_address = 0;
    uint64_t length = 0;
  };
  // In the order of submission.
  std::vector<Seen> seen() const;
  // Waits until so many were submitted; false after `timeout_ns`.
  bool waitSeen(size_t count, uint64_t timeout_ns) const;
  // Waits until so many transfers are held at once.
  bool waitHeld(size_t count, uint64_t timeout_ns) const;

 private:
  friend class FakeLink;

  // What its link asks.
  Fate submitted(const Transfer& transfer);
  bool refusesConnections() const;
  // Holds the calling thread until a release or until `given_up` is true; whether it was a release.
  bool waitReleased(const std::function<bool()>& given_up);
  // Has waitReleased look at `given_up` again.
  void wake();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Fate> fates_;
  Fate usual_;
  size_t releases_ = 0;
  bool refuses_ = false;
  std::vector<Seen> seen_;
  size_t held_ = 0;
};

}  // namespace tent
