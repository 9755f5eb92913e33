#include "engine/admission.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/clock.h"
#include "engine/batch.h"

namespace tent {

std::shared_ptr<TenantAdmission> TenantAdmission::of(const PolicyName& tenant) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<TenantAdmission>, std::less<>> tenants;
  const std::lock_guard lock(mutex);
  std::weak_ptr<TenantAdmission>& known = tenants[std::string(tenant.view())];
  std::shared_ptr<TenantAdmission> admission = known.lock();
  if (admission == nullptr) known = admission = std::make_shared<TenantAdmission>();
  return admission;
}

TenantAdmission::TenantAdmission() {
  intents_.reserve(kIntentTypeCount);
  for (int i = 0; i < kIntentTypeCount; ++i) intents_.emplace_back(&memory_);
}

TenantAdmission::Intent& TenantAdmission::intentOf(const Task& task) {
  return intents_[static_cast<size_t>(task.turn.intent)];
}

bool TenantAdmission::hasRoom(const Intent& intent, const Turn& turn) {
  if (intent.requests == 0) return true;
  return intent.requests < turn.limits.requests && intent.bytes <= turn.limits.bytes &&
         turn.bytes <= turn.limits.bytes - intent.bytes;
}

void TenantAdmission::admit(Intent& intent, uint64_t now_ns) {
  while (Task* task = intent.queue.next(now_ns)) {
    if (!hasRoom(intent, task->turn)) return;
    intent.queue.take(*task, now_ns);
    intent.bytes += task->turn.bytes;
    ++intent.requests;
    task->turn.state = Turn::State::kReady;
    ready_.push_back(task);
  }
}

void TenantAdmission::admitAll(uint64_t now_ns) {
  for (Intent& intent : intents_) admit(intent, now_ns);
}

void TenantAdmission::free(Task& task) {
  Intent& intent = intentOf(task);
  intent.bytes -= task.turn.bytes;
  --intent.requests;
  task.turn.state = Turn::State::kNone;
}

std::optional<TenantAdmission::Refusal> TenantAdmission::overflow(std::span<Task> tasks) const {
  Refusal refusal{tasks.size(), 0};
  for (size_t i = 0; i < intents_.size(); ++i) {
    const size_t size = intents_[i].queue.size();
    size_t excess = size - std::min(size, kWaitingMax);
    refusal.count += excess;
    for (size_t at = tasks.size(); excess > 0 && at > 0; --at) {
      const Turn& turn = tasks[at - 1].turn;
      if (turn.state != Turn::State::kWaiting || static_cast<size_t>(turn.intent) != i) continue;
      --excess;
      refusal.first = std::min(refusal.first, at - 1);
    }
  }
  if (refusal.count == 0) return std::nullopt;
  return refusal;
}

std::optional<TenantAdmission::Refusal> TenantAdmission::Entry::take(std::span<Task> tasks, AdmissionHost& host) {
  const uint64_t now_ns = monotonicNowNs();
  for (Task& task : tasks) {
    if (!task.turn.limited) continue;
    task.turn.state = Turn::State::kWaiting;
    task.turn.at_once = false;
    task.turn.host = &host;
    task.turn.arrival = ++admission_.arrivals_;
    task.turn.since_ns = now_ns;
    admission_.intentOf(task).queue.add(task);
  }
  admission_.admitAll(now_ns);
  auto refusal = admission_.overflow(tasks);
  if (refusal) {
    for (Task& task : tasks) {
      if (task.turn.limited) admission_.takeBack(task);
    }
    admission_.admitAll(now_ns);
    return refusal;
  }
  std::erase_if(admission_.ready_, [&](Task* task) {
    if (task < tasks.data() || task >= tasks.data() + tasks.size()) return false;
    task->turn.state = Turn::State::kAdmitted;
    return task->turn.at_once = true;
  });
  return std::nullopt;
}

bool TenantAdmission::takeBack(Task& task) {
  switch (task.turn.state) {
    case Turn::State::kNone:
    case Turn::State::kAdmitted: return false;
    case Turn::State::kWaiting:
      intentOf(task).queue.remove(task);
      task.turn.state = Turn::State::kNone;
      return true;
    case Turn::State::kReady:
      ready_.erase(std::find(ready_.begin(), ready_.end(), &task));
      free(task);
      return true;
  }
  return false;
}

void TenantAdmission::handOver() {
  constexpr size_t kTogether = 64;
  std::array<Task*, kTogether> together;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled up to `count`
  std::unique_lock lock(mutex_);
  // Who is at it sees what others add; so a task that ends while it is handed over does not go deeper.
  if (handing_over_) return;
  handing_over_ = true;
  while (!ready_.empty()) {
    AdmissionHost& host = *ready_.front()->turn.host;
    size_t count = 0;
    while (count < kTogether && !ready_.empty() && ready_.front()->turn.host == &host) {
      together[count] = ready_.front();
      together[count++]->turn.state = Turn::State::kAdmitted;
      ready_.pop_front();
    }
    called_ = &host;
    lock.unlock();
    host.admitted({together.data(), count});
    lock.lock();
    called_ = nullptr;
    call_ended_.notify_all();
  }
  handing_over_ = false;
}

void TenantAdmission::leave(Task& task) {
  const std::lock_guard lock(mutex_);
  if (task.turn.state != Turn::State::kAdmitted) return;
  Intent& intent = intentOf(task);
  free(task);
  admit(intent, monotonicNowNs());
}

bool TenantAdmission::takeOut(Task& task) {
  const std::lock_guard lock(mutex_);
  if (!takeBack(task)) return false;
  admit(intentOf(task), monotonicNowNs());
  return true;
}

std::vector<Task*> TenantAdmission::takeAll(const AdmissionHost& host) {
  std::vector<Task*> taken;
  const auto note = [&](Task* task) {
    if (task->turn.host == &host) taken.push_back(task);
  };
  std::unique_lock lock(mutex_);
  for (const Intent& intent : intents_) std::ranges::for_each(intent.queue.waiting(), note);
  std::ranges::for_each(ready_, note);
  for (Task* task : taken) takeBack(*task);
  admitAll(monotonicNowNs());
  call_ended_.wait(lock, [&] { return called_ != &host; });
  return taken;
}

std::vector<Task*> TenantAdmission::takeAlike(const Task& task) {
  std::vector<Task*> taken;
  const std::lock_guard lock(mutex_);
  for (const Intent& intent : intents_) {
    for (Task* other : intent.queue.waiting()) {
      const bool alike = other->turn.host == task.turn.host && other->peer == task.peer && other->route == task.route;
      if (alike) taken.push_back(other);
    }
  }
  for (Task* other : taken) takeBack(*other);
  admitAll(monotonicNowNs());
  return taken;
}

size_t TenantAdmission::waiting() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const Intent& intent : intents_) count += intent.queue.size();
  return count;
}

}  // namespace tent
