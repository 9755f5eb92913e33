// Cuts what is to be run into waves: transfers that are in flight together and verified together.
//
// A wave holds at most kWaveTasks transfers and so many bytes of source memory (but at least one transfer), and no two
// whose ranges of the target overlap when one of them writes: what each has to leave behind is then known. Pure, and in
// memory that depends on a wave alone, however often a vector is repeated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace tent::tool {

inline constexpr size_t kWaveTasks = 1024;
inline constexpr uint64_t kWaveBytes = 256u << 20;  // of all waves that are run at one time

// A vector as the waves see it.
struct Planned {
  size_t entry = 0;  // whose it is
  uint64_t repeat = 1;
  uint64_t address = 0;  // of the target's range
  uint64_t length = 0;   // bytes
  bool write = false;
};

// One transfer.
struct Item {
  size_t entry = 0;
  uint64_t repetition = 0;  // from 0
};

// The source memory that a transfer of `length` takes in a wave: pieces do not share cache lines.
constexpr uint64_t sourceBytes(uint64_t length) {
  return length < 64 ? 64 : length > UINT64_MAX - 63 ? UINT64_MAX : (length + 63) / 64 * 64;
}

// Ranges of addresses; overlapping and touching ones become one.
class RangeSet {
 public:
  bool overlaps(uint64_t address, uint64_t length) const;
  void add(uint64_t address, uint64_t length);

 private:
  std::map<uint64_t, uint64_t> ends_;  // by their beginnings
};

class WaveCutter {
 public:
  // `planned`: what goes to one peer, in the order in which it is to be run.
  explicit WaveCutter(std::vector<Planned> planned, uint64_t wave_bytes = kWaveBytes)
      : planned_(std::move(planned)), wave_bytes_(wave_bytes) {}

  // The next wave; empty at the end.
  std::vector<Item> next();

 private:
  std::vector<Planned> planned_;
  uint64_t wave_bytes_;
  size_t at_ = 0;
  uint64_t repetition_ = 0;
};

}  // namespace tent::tool
