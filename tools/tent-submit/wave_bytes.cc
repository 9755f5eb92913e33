// The bytes of a wave: what is sent, and whether it arrived.
#include "engine/checksum.h"
#include "tent-submit/pattern.h"
#include "tent-submit/wave_run.h"

namespace tent::tool {

void WaveRun::fill() {
  for (size_t i = 0; i < items_.size(); ++i) {
    const bool wanted = options_.verify || writes(i);
    if (transfers_[i].failed || !wanted) continue;
    fillPattern(transfers_[i].memory, options_.seed ^ (uint64_t{items_[i].entry} << 32) ^ items_[i].repetition);
  }
  if (!options_.verify) return;
  makeDifferent();
  for (size_t i = 0; i < items_.size(); ++i) {
    if (!transfers_[i].failed && writes(i)) transfers_[i].sent = checksumOf(transfers_[i].memory);
  }
}

// A few bytes may happen to be at the destination already. Where a peer does not answer here, its transfers will tell.
void WaveRun::makeDifferent() {
  const auto short_one = [this](size_t item) {
    const size_t bytes = transfers_[item].memory.size();
    return !transfers_[item].failed && bytes > 0 && bytes <= kOftenAlike;
  };
  for (const auto& [session, items] : bySession(short_one)) {
    const auto there = checksumsOf(*session, items);
    if (!there) continue;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::span<std::byte> memory = transfers_[items[i]].memory;
      if (checksumOf(memory) == (*there)[i]) invert(memory);
    }
  }
}

void WaveRun::verify() {
  const auto arrived = [this](size_t item) {
    return outcomes_[item].report.status.state == TaskState::kCompleted && !transfers_[item].memory.empty();
  };
  for (const auto& [session, items] : bySession(arrived)) {
    const auto there = checksumsOf(*session, items);
    for (size_t i = 0; i < items.size(); ++i) {
      const size_t item = items[i];
      Error error;
      if (!there) {
        error = there.error();
        error.detail += "; so what arrived could not be verified";
      } else if (writes(item)) {
        error = compareChecksums(transfers_[item].sent, (*there)[i]);
      } else {
        error = compareChecksums((*there)[i], checksumOf(transfers_[item].memory));
      }
      if (there) outcomes_[item].verified = !error;
      if (error) fail(item, std::move(error));
    }
    if (!there) lost_peer_ = there.error();
  }
}

void WaveRun::leaveUnverified(End end) {
  const bool late = end == End::kTimeout;
  for (size_t item = 0; item < items_.size(); ++item) {
    if (outcomes_[item].status != ExecutionStatus::kCompleted || transfers_[item].memory.empty()) continue;
    setOutcome(item, late ? ExecutionStatus::kTimeout : ExecutionStatus::kCanceled,
               errorOf(late ? Reason::kTimeout : Reason::kCanceled,
                       late ? "its bytes were carried, but --timeout had passed before they could be verified"
                            : "its bytes were carried, but the run was interrupted before they could be verified"));
  }
}

WaveRun::BySession WaveRun::bySession(const std::function<bool(size_t item)>& wanted) const {
  BySession sessions;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (wanted(i)) sessions[entryOf(i).session].push_back(i);
  }
  return sessions;
}

tl::expected<std::vector<uint64_t>, Error> WaveRun::checksumsOf(Session& session, std::span<const size_t> items) const {
  std::vector<Engine::Range> ranges;
  ranges.reserve(items.size());
  for (const size_t item : items) ranges.push_back({entryOf(item).address, entryOf(item).vector.fields.length});
  return session.engine().checksums(session.segment(peer()), ranges);
}

}  // namespace tent::tool
