// What a link tells, kept for the test, which waits for it. Thread safety: all members may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "transport/backend.h"

namespace tent::conformance {

// Far more than anything here takes, sanitizers and a busy machine included.
inline constexpr uint64_t kWatchdogNs = 60'000'000'000;

class Recorder : public LinkObserver {
 public:
  void completed(Completion completion) noexcept override;
  void closed(const Error& why) noexcept override;

  // Looks, at each report that the peer was lost, whether `link` says that it has ended.
  void watch(const Link& link) { watched_ = &link; }
  bool endedWhenTold() const { return ended_when_told_; }

  // Waits until so many transfers were reported, or the link has ended; false when the watchdog bites first. `link`: is
  // helped meanwhile.
  bool waitCompleted(size_t count, Link* link = nullptr);
  bool waitClosed();

  Completion of(uint64_t token) const;  // fails the test when there is none
  bool has(uint64_t token) const;
  size_t count() const;
  size_t failedCount() const;
  std::optional<Error> end() const;
  // Nothing was reported twice, nor after the end.
  bool isConsistent() const;

 private:
  const Link* watched_ = nullptr;  // set before the first transfer
  std::atomic<bool> ended_when_told_{true};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Completion> by_token_;
  std::optional<Error> end_;
  bool consistent_ = true;
};

}  // namespace tent::conformance
