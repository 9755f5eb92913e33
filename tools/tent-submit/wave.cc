#include "tent-submit/wave.h"

#include <algorithm>
#include <iterator>

namespace tent::tool {

bool RangeSet::overlaps(uint64_t address, uint64_t length) const {
  if (length == 0) return false;
  const auto after = ends_.lower_bound(address + length);
  return after != ends_.begin() && std::prev(after)->second > address;
}

void RangeSet::add(uint64_t address, uint64_t length) {
  if (length == 0) return;
  uint64_t end = address + length;
  auto it = ends_.upper_bound(end);
  while (it != ends_.begin() && std::prev(it)->second >= address) {
    it = std::prev(it);
    address = std::min(address, it->first);
    end = std::max(end, it->second);
    it = ends_.erase(it);
  }
  ends_.emplace(address, end);
}

std::vector<Item> WaveCutter::next() {
  std::vector<Item> wave;
  RangeSet touched;
  RangeSet written;
  uint64_t bytes = 0;
  while (at_ < planned_.size() && wave.size() < kWaveTasks) {
    const Planned& planned = planned_[at_];
    if (repetition_ == planned.repeat) {
      ++at_;
      repetition_ = 0;
      continue;
    }
    const uint64_t needed = sourceBytes(planned.length);
    const RangeSet& in_the_way = planned.write ? touched : written;
    const bool fits = needed <= wave_bytes_ - std::min(bytes, wave_bytes_);
    if (!wave.empty() && (!fits || in_the_way.overlaps(planned.address, planned.length))) break;
    bytes += needed;
    touched.add(planned.address, planned.length);
    if (planned.write) written.add(planned.address, planned.length);
    wave.push_back({planned.entry, repetition_++});
  }
  return wave;
}

}  // namespace tent::tool
