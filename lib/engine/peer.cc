#include "engine/peer.h"

namespace tent {

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

bool Peer::findRoute(const PeerView* view, const RouteKey& key, TransportList& route) const {
  const std::lock_guard lock(mutex_);
  if (view != view_.get()) return false;
  for (const Kept& kept : routes_) {
    if (kept.key == key) return route = kept.route, true;
  }
  return false;
}

void Peer::keepRoute(const PeerView* view, const RouteKey& key, const TransportList& route) {
  const std::lock_guard lock(mutex_);
  if (view != view_.get()) return;
  if (routes_.size() >= kRoutesMax) routes_.clear();
  routes_.push_back({key, route});
}

}  // namespace tent
