// The clock of deadlines and time limits: CLOCK_MONOTONIC, in nanoseconds. Pure parts take such a time as an argument;
// only what executes reads it.
#pragma once

#include <cstdint>
#include <ctime>

namespace tent {

inline uint64_t monotonicNowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace tent
