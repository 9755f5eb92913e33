#include "conformance/recorder.h"

#include <chrono>

#include <doctest/doctest.h>

#include "base/clock.h"

namespace tent::conformance {

void Recorder::completed(Completion completion) noexcept {
  if (completion.reason == Reason::kPeerLost && watched_ != nullptr && !watched_->ended()) ended_when_told_ = false;
  const std::lock_guard lock(mutex_);
  const uint64_t token = completion.token;
  if (!by_token_.emplace(token, std::move(completion)).second || end_) consistent_ = false;
  changed_.notify_all();
}

void Recorder::closed(const Error& why) noexcept {
  const std::lock_guard lock(mutex_);
  if (end_) consistent_ = false;
  end_ = why;
  changed_.notify_all();
}

bool Recorder::waitCompleted(size_t count, Link* link) {
  const auto enough = [&] { return by_token_.size() >= count || end_; };
  const uint64_t until = monotonicNowNs() + kWatchdogNs;
  std::unique_lock lock(mutex_);
  while (link != nullptr && !enough() && monotonicNowNs() < until) {
    lock.unlock();
    const bool helped = link->progress();
    lock.lock();
    if (!helped) break;
  }
  return changed_.wait_for(lock, std::chrono::nanoseconds(kWatchdogNs), enough);
}

bool Recorder::waitClosed() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(kWatchdogNs), [this] { return end_.has_value(); });
}

Completion Recorder::of(uint64_t token) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_token_.find(token);
  REQUIRE_MESSAGE(found != by_token_.end(), "not reported: " << token);
  return found->second;
}

bool Recorder::has(uint64_t token) const {
  const std::lock_guard lock(mutex_);
  return by_token_.count(token) > 0;
}

size_t Recorder::count() const {
  const std::lock_guard lock(mutex_);
  return by_token_.size();
}

size_t Recorder::failedCount() const {
  const std::lock_guard lock(mutex_);
  size_t failed = 0;
  for (const auto& [token, completion] : by_token_) failed += completion.reason != Reason::kNone ? 1u : 0u;
  return failed;
}

std::optional<Error> Recorder::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

bool Recorder::isConsistent() const {
  const std::lock_guard lock(mutex_);
  return consistent_;
}

}  // namespace tent::conformance
