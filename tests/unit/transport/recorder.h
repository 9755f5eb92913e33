// What a link tells, kept for a unit test. Thread safety: all members may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include <doctest/doctest.h>

#include "transport/backend.h"

namespace tent {

// Far more than anything here takes.
inline constexpr uint64_t kWatchdogNs = 60'000'000'000;

class Recorder : public LinkObserver {
 public:
  void completed(Completion completion) noexcept override {
    const std::lock_guard lock(mutex_);
    const uint64_t token = completion.token;
    consistent_ = by_token_.emplace(token, std::move(completion)).second && consistent_;
    changed_.notify_all();
  }
  void closed(const Error& why) noexcept override {
    const std::lock_guard lock(mutex_);
    consistent_ = !end_ && consistent_;
    end_ = why;
    changed_.notify_all();
  }

  // Waits for the report of one transfer; fails the test when it does not come.
  Completion of(uint64_t token) {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, std::chrono::nanoseconds(kWatchdogNs), [&] { return by_token_.count(token) > 0; }));
    return by_token_[token];
  }
  Error end() {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, std::chrono::nanoseconds(kWatchdogNs), [&] { return end_.has_value(); }));
    return *end_;
  }
  size_t count() const {
    const std::lock_guard lock(mutex_);
    return by_token_.size();
  }
  bool isOpen() const {
    const std::lock_guard lock(mutex_);
    return !end_;
  }
  bool isConsistent() const {
    const std::lock_guard lock(mutex_);
    return consistent_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Completion> by_token_;
  std::optional<Error> end_;
  bool consistent_ = true;
};

}  // namespace tent
