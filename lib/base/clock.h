// The clock of deadlines and time limits: CLOCK_MONOTONIC, in nanoseconds. Pure parts take such a time as an argument;
// only what executes reads it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace tent {

inline uint64_t monotonicNowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// A time limit as one to wait with: what the clock cannot hold is as good as a century.
inline std::chrono::nanoseconds boundedWait(uint64_t timeout_ns) {
  constexpr uint64_t kCenturyNs = 3'155'760'000'000'000'000;
  return std::chrono::nanoseconds(std::min(timeout_ns, kCenturyNs));
}

}  // namespace tent
