// A peer as this engine knows it: its description, what plans are made against for it, the routes that were planned,
// and the lanes to it.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/control_client.h"
#include "engine/lane.h"
#include "engine/transport_health.h"
#include "engine/wire.h"
#include "inventory/environment.h"
#include "plan/planner.h"

namespace tent {

// What was known of a peer at one time. Immutable.
struct PeerView {
  PeerDescription description;
  // What plans are made against: for memory that the peer's application registered, and for what its engine allocated.
  Environment application;
  Environment allocated;

  const Environment& environmentFor(bool shared) const { return shared ? allocated : application; }
};

// What decides which way a request goes, beside the view: equal keys have equal plans.
struct RouteKey {
  bool shared = false;
  Transport hint = Transport::kUnspec;
  MemoryLocation local_memory;
  MemoryLocation remote_memory;
  const TransportPolicy* policy = nullptr;
  uint64_t rules = 0;  // the generation of those that the policy is of
  TransportList authorized;

  friend bool operator==(const RouteKey&, const RouteKey&) = default;
};

// Another process answers where the peer was.
Error staleSegment(const std::string& name);

// A plan's transports, in the order they are tried, and those of them that go through staging buffers.
struct Route {
  TransportList transports;
  TransportSet staged;
};

class Peer : public std::enable_shared_from_this<Peer> {
 public:
  // `endpoints`: where the host that it is named after may be reached.
  Peer(std::string name, std::vector<asio::ip::tcp::endpoint> endpoints, Loop& control_loop,
       std::shared_ptr<const ControlSecurity> security)
      : name_(std::move(name)),
        endpoints_(std::move(endpoints)),
        client_(control_loop, name_, endpoints_, std::move(security)) {}

  const std::string& name() const { return name_; }  // as it was opened
  const std::vector<asio::ip::tcp::endpoint>& endpoints() const { return endpoints_; }
  ControlClient& client() { return client_; }

  // Lanes are added before the peer is used by others.
  void addLane(std::shared_ptr<Lane> lane) { lanes_[static_cast<size_t>(lane->transport())] = std::move(lane); }
  Lane* lane(Transport transport) const { return lanes_[static_cast<size_t>(transport)].get(); }
  void shutDown(const Error& why);

  std::shared_ptr<const PeerView> view() const;
  void setView(std::shared_ptr<const PeerView> view);
  // A view that turned out to be out of date is looked up again before it is next relied on.
  void markStale() { stale_.store(true, std::memory_order_relaxed); }
  bool takeStale() { return stale_.exchange(false, std::memory_order_relaxed); }

  TransportHealth& health(Transport transport) { return health_[static_cast<size_t>(transport)]; }
  TransportSet paused(uint64_t now_ns);
  // Whether a pause has begun or ended since paused() was last asked.
  bool pausesChanged() const;
  void pauseBegan() { next_pause_change_ns_.store(0, std::memory_order_relaxed); }

  // The route planned for the key against `view`; nothing where none was kept.
  bool findRoute(const PeerView* view, const RouteKey& key, Route& route) const;
  void keepRoute(const PeerView* view, const RouteKey& key, const Route& route);

 private:
  static constexpr size_t kRoutesMax = 64;
  struct Kept {
    RouteKey key;
    Route route;
  };

  const std::string name_;
  const std::vector<asio::ip::tcp::endpoint> endpoints_;
  ControlClient client_;
  std::array<std::shared_ptr<Lane>, kTransportCount> lanes_;
  std::array<TransportHealth, kTransportCount> health_;
  std::atomic<bool> stale_{false};
  std::atomic<uint64_t> next_pause_change_ns_{UINT64_MAX};

  mutable std::mutex mutex_;
  std::shared_ptr<const PeerView> view_;
  std::vector<Kept> routes_;  // of view_
};

}  // namespace tent
