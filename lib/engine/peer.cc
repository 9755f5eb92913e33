#include "engine/peer.h"

#include <fmt/format.h>

namespace tent {

Error staleSegment(const std::string& name) {
  return {Reason::kStaleSegment,
          Field::kTargetId,
          -1,
          {},
          fmt::format("another process than before answers at {}: close the segment and open it again", name)};
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
