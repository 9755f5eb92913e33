#include "transport/fake/fake_script.h"

#include <chrono>

namespace tent {

void FakeScript::next(const Fate& fate, size_t count) {
  const std::lock_guard lock(mutex_);
  fates_.insert(fates_.end(), count, fate);
}

void FakeScript::usually(const Fate& fate) {
  const std::lock_guard lock(mutex_);
  usual_ = fate;
}

void FakeScript::release(size_t count) {
  {
    const std::lock_guard lock(mutex_);
    releases_ = count > kAll - releases_ ? kAll : releases_ + count;
  }
  changed_.notify_all();
}

void FakeScript::refuseConnections(bool refuse) {
  const std::lock_guard lock(mutex_);
  refuses_ = refuse;
}

std::vector<FakeScript::Seen> FakeScript::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

bool FakeScript::waitSeen(size_t count, uint64_t timeout_ns) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [&] { return seen_.size() >= count; });
}

bool FakeScript::waitHeld(size_t count, uint64_t timeout_ns) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [&] { return held_ >= count; });
}

FakeScript::Fate FakeScript::submitted(const Transfer& transfer) {
  Fate fate;
  {
    const std::lock_guard lock(mutex_);
    seen_.push_back({transfer.token, transfer.direction, transfer.remote_address, transfer.length});
    fate = usual_;
    if (!fates_.empty()) {
      fate = fates_.front();
      fates_.pop_front();
    }
  }
  changed_.notify_all();
  return fate;
}

bool FakeScript::refusesConnections() const {
  const std::lock_guard lock(mutex_);
  return refuses_;
}

bool FakeScript::waitReleased(const std::function<bool()>& given_up) {
  std::unique_lock lock(mutex_);
  ++held_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return releases_ > 0 || given_up(); });
  --held_;
  if (given_up()) return false;
  if (releases_ != kAll) --releases_;
  return true;
}

void FakeScript::wake() {
  // With the lock, so that nobody who has just looked goes to sleep after this.
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace tent
