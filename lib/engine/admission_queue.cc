#include "engine/admission_queue.h"

#include <tuple>

#include "engine/batch.h"

namespace tent {

bool AdmissionQueue::MoreUrgent::operator()(const Task* a, const Task* b) const {
  const auto key = [](const Turn& turn) {
    // 0, which is none, becomes the latest.
    return std::tuple(turn.priority, turn.deadline_ns - 1, turn.arrival);
  };
  return key(a->turn) < key(b->turn);
}

bool AdmissionQueue::Earlier::operator()(const Task* a, const Task* b) const {
  return a->turn.arrival < b->turn.arrival;
}

void AdmissionQueue::add(Task& task) {
  by_urgency_.insert(&task);
  by_arrival_.insert(&task);
}

void AdmissionQueue::remove(Task& task) {
  by_urgency_.erase(&task);
  by_arrival_.erase(&task);
}

Task* AdmissionQueue::agedOne(uint64_t now_ns) const {
  if (by_arrival_.empty() || since_aged_ + 1 < kAgedShare) return nullptr;
  Task* const oldest = *by_arrival_.begin();
  return now_ns >= oldest->turn.since_ns + kAgedAfterNs ? oldest : nullptr;
}

Task* AdmissionQueue::next(uint64_t now_ns) const {
  if (by_arrival_.empty()) return nullptr;
  Task* const aged = agedOne(now_ns);
  return aged != nullptr ? aged : *by_urgency_.begin();
}

void AdmissionQueue::take(Task& task, uint64_t now_ns) {
  since_aged_ = &task == agedOne(now_ns) ? 0 : since_aged_ + 1;
  remove(task);
}

}  // namespace tent
