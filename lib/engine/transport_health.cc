#include "engine/transport_health.h"

#include <algorithm>

namespace tent {

bool TransportHealth::failed(uint32_t incident, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (incident != incident_.load(std::memory_order_relaxed)) return false;
  incident_.store(incident + 1, std::memory_order_relaxed);
  if (isPaused(now_ns)) return false;
  const uint32_t failures = failures_.load(std::memory_order_relaxed) + 1;
  failures_.store(failures, std::memory_order_relaxed);
  if (failures < kFailuresToPause) return false;
  pause_ns_ = std::clamp(2 * pause_ns_, kFirstPauseNs, kLongestPauseNs);
  paused_until_ns_.store(now_ns + pause_ns_, std::memory_order_relaxed);
  return true;
}

void TransportHealth::succeeded(uint32_t incident) {
  if (failures_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  if (incident != incident_.load(std::memory_order_relaxed)) return;
  failures_.store(0, std::memory_order_relaxed);
  pause_ns_ = 0;
  paused_until_ns_.store(0, std::memory_order_relaxed);
}

}  // namespace tent
