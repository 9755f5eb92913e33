// Whether a transport to one peer is worth trying: after failures in a row it is paused, each time for longer, and then
// comes back to be tried again.
//
// What fails together counts once: attempts that had begun before a failure was seen say nothing new about it, nor does
// what is tried during a pause and fails.
//
// Thread safety: all members may be called from any thread. Time is an argument (CLOCK_MONOTONIC).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tent {

class TransportHealth {
 public:
  static constexpr uint32_t kFailuresToPause = 3;  // one after a pause
  static constexpr uint64_t kFirstPauseNs = 1'000'000'000;
  static constexpr uint64_t kLongestPauseNs = 60'000'000'000;

  // Which failure an attempt that begins now would be; to be given back when it has ended.
  uint32_t incident() const { return incident_.load(std::memory_order_relaxed); }

  // An attempt has ended. Whether a pause begins with it.
  bool failed(uint32_t incident, uint64_t now_ns);
  void succeeded(uint32_t incident);

  bool isPaused(uint64_t now_ns) const { return now_ns < paused_until_ns_.load(std::memory_order_relaxed); }
  // When the last pause ends or has ended; 0: there was none since it last worked.
  uint64_t pausedUntilNs() const { return paused_until_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> incident_{0};
  std::atomic<uint32_t> failures_{0};  // in a row
  std::atomic<uint64_t> paused_until_ns_{0};
  std::mutex mutex_;  // of changes
  uint64_t pause_ns_ = 0;
};

}  // namespace tent
