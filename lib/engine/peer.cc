#include "engine/peer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"

namespace tent {

Error staleSegment(const std::string& name) {
  return {
      Reason::kStaleSegment, Field::kTargetId, -1, {}, fmt::format("another process than before answers at {}", name)};
}

void Peer::shutDown(const Error& why) {
  for (const auto& lane : lanes_) {
    if (lane != nullptr) lane->shutDown(why);
  }
  client_.close();
}

std::shared_ptr<const PeerView> Peer::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

void Peer::setView(std::shared_ptr<const PeerView> view) {
  const std::lock_guard lock(mutex_);
  view_ = std::move(view);
  routes_.clear();
}

TransportSet Peer::paused(uint64_t now_ns) {
  uint64_t unchanged = UINT64_MAX;
  next_pause_change_ns_.store(unchanged, std::memory_order_relaxed);
  uint64_t next_end_ns = UINT64_MAX;
  TransportSet paused;
  for (const auto& lane : lanes_) {
    if (lane == nullptr) continue;
    const TransportHealth& its = health_[static_cast<size_t>(lane->transport())];
    if (!its.isPaused(now_ns)) continue;
    paused.add(lane->transport());
    next_end_ns = std::min(next_end_ns, its.pausedUntilNs());
  }
  // Unless a pause has begun meanwhile.
  next_pause_change_ns_.compare_exchange_strong(unchanged, next_end_ns, std::memory_order_relaxed);
  return paused;
}

bool Peer::pausesChanged() const {
  const uint64_t next_ns = next_pause_change_ns_.load(std::memory_order_relaxed);
  return next_ns != UINT64_MAX && next_ns <= monotonicNowNs();
}

bool Peer::findRoute(const PeerView* view, const RouteKey& key, Route& route) const {
  const std::lock_guard lock(mutex_);
  if (view != view_.get()) return false;
  for (const Kept& kept : routes_) {
    if (kept.key == key) return route = kept.route, true;
  }
  return false;
}

void Peer::keepRoute(const PeerView* view, const RouteKey& key, const Route& route) {
  const std::lock_guard lock(mutex_);
  if (view != view_.get()) return;
  if (routes_.size() >= kRoutesMax) routes_.clear();
  routes_.push_back({key, route});
}

}  // namespace tent
