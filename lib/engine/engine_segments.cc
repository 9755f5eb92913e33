// Segments: peers that are opened, asked about themselves, and judged for what plans may count on.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text.h"
#include "engine/engine_impl.h"
#include "engine/staged_transfers.h"
#include "transport/sockets.h"

namespace tent {
namespace {

Error unknownSegment(SegmentId segment) {
  return {Reason::kUnknownSegment, Field::kTargetId, -1, segment, {}};
}

}  // namespace

std::shared_ptr<Peer> Engine::Impl::findPeer(SegmentId segment) const {
  const std::shared_lock lock(segments_mutex_);
  const auto it = segments_.find(segment);
  return it == segments_.end() ? nullptr : it->second.peer;
}

tl::expected<std::shared_ptr<Peer>, Error> Engine::Impl::peerOf(SegmentId segment) {
  if (segment == kLocalSegment) return selfPeer();
  if (std::shared_ptr<Peer> peer = findPeer(segment)) return peer;
  return tl::unexpected(unknownSegment(segment));
}

tl::expected<std::shared_ptr<Peer>, Error> Engine::Impl::makePeer(const std::string& name, const HostPort& where) {
  auto endpoints = findEndpoints(where.host, where.port);
  if (!endpoints) {
    return tl::unexpected(errorOfSocket(Reason::kPeerUnreachable, "cannot connect to " + name, endpoints.error()));
  }
  auto peer = std::make_shared<Peer>(name, *std::move(endpoints), *control_loop_, security_);
  for (const Server& server : servers_) {
    peer->addLane(std::make_shared<Lane>(server.transport, server.backend->capabilities(), *peer, *this));
  }
  return peer;
}

tl::expected<std::shared_ptr<Peer>, Error> Engine::Impl::selfPeer() {
  const std::lock_guard lock(self_mutex_);
  if (self_ == nullptr) {
    auto peer = makePeer(address_, *parseAddress(address_));
    if (!peer) return peer;
    if (auto view = refresh(**peer); !view) return tl::unexpected(std::move(view.error()));
    self_ = *std::move(peer);
  }
  return self_;
}

tl::expected<SegmentId, Error> Engine::Impl::openSegment(const std::string& name) {
  const std::optional<HostPort> where = parseAddress(name);
  if (!where || where->port == 0) {
    return tl::unexpected(errorSaying(
        Reason::kUnknownSegment, Field::kTargetId, name,
        fmt::format("\"{}\" names no segment: it is called host:port, as its engine's name says", shorten(name, 100))));
  }
  const auto open_already = [&]() -> std::optional<SegmentId> {
    const std::unique_lock lock(segments_mutex_);
    const auto it = segment_ids_.find(name);
    if (it == segment_ids_.end()) return std::nullopt;
    ++segments_.at(it->second).opened;
    return it->second;
  };
  if (const auto id = open_already()) return *id;

  auto made = makePeer(name, *where);
  if (!made) return tl::unexpected(std::move(made.error()));
  std::shared_ptr<Peer> peer = *std::move(made);
  auto view = refresh(*peer);
  if (!view) {
    retire(std::move(peer));
    return tl::unexpected(std::move(view.error()));
  }
  SegmentId opened = 0;
  {
    const std::unique_lock lock(segments_mutex_);
    const auto [it, added] = segment_ids_.try_emplace(name);
    if (added) it->second = nextHandle();
    opened = it->second;
    Segment& segment = segments_[opened];
    ++segment.opened;
    if (added) segment.peer = std::move(peer);
  }
  if (peer != nullptr) retire(std::move(peer));  // another thread was faster
  return opened;
}

Error Engine::Impl::closeSegment(SegmentId segment) {
  std::shared_ptr<Peer> peer;
  {
    const std::unique_lock lock(segments_mutex_);
    const auto it = segments_.find(segment);
    if (it == segments_.end()) return unknownSegment(segment);
    if (--it->second.opened > 0) return {};
    peer = std::move(it->second.peer);
    segment_ids_.erase(peer->name());
    segments_.erase(it);
  }
  retire(std::move(peer));
  return {};
}

// Peers are let go of only here and only once nothing else holds them, never by a task that ends: that may happen
// within a call of one of their own links.
void Engine::Impl::retire(std::shared_ptr<Peer> peer) {
  std::vector<std::shared_ptr<Peer>> unused;
  {
    const std::unique_lock lock(segments_mutex_);
    retired_peers_.push_back(std::move(peer));
    const auto in_use = std::stable_partition(retired_peers_.begin(), retired_peers_.end(),
                                              [](const auto& retired) { return retired.use_count() > 1; });
    unused.assign(std::make_move_iterator(in_use), std::make_move_iterator(retired_peers_.end()));
    retired_peers_.erase(in_use, retired_peers_.end());
  }
  StagedTransfers* const staging = staged();
  for (const auto& retired : unused) {
    retired->shutDown(errorOf(Reason::kCanceled, "the segment was closed"));
    if (staging != nullptr) staging->forget(*retired);
  }
}

tl::expected<Message, Error> Engine::Impl::ask(Peer& peer, const Message& request) {
  auto answer = peer.client().ask(request, options_.control_timeout_ns);
  if (!answer) return answer;
  const std::shared_ptr<const PeerView> view = peer.view();
  if (view != nullptr && view->description.instance != instanceOf(*answer)) {
    return tl::unexpected(staleSegment(peer.name()));
  }
  return answer;
}

tl::expected<std::shared_ptr<const PeerView>, Error> Engine::Impl::refresh(Peer& peer) {
  auto answer = ask(peer, {{"type", "describe"}});
  if (!answer) return tl::unexpected(std::move(answer.error()));
  auto description = descriptionOf(*answer);
  if (!description) return tl::unexpected(std::move(description.error()));
  auto view = std::make_shared<PeerView>();
  view->application = view->allocated = environmentOf(*description);
  view->description = *std::move(description);
  if (view->application.same_machine) {
    if (Error error = judgeSharedMemory(peer, *view)) return tl::unexpected(std::move(error));
  }
  takePauses(peer, *view);
  peer.setView(view);
  return view;
}

Environment Engine::Impl::environmentOf(const PeerDescription& description) const {
  Environment environment = environment_;
  environment.same_machine = !boot_id_.empty() && description.boot_id == boot_id_;
  if (environment.same_machine) {
    environment.peer = environment.local;
  } else {
    environment.peer = HostInventory{};
    environment.peer.name = description.host;
  }
  for (Transport transport : listOf(environment.built)) {
    if (description.transports.has(transport) || config_.plan.disabled.has(transport)) continue;
    environment.peer_lacks.add(transport);
  }
  return environment;
}

void Engine::Impl::takePauses(Peer& peer, PeerView& view) const {
  view.application.unhealthy = view.allocated.unhealthy = environment_.unhealthy;
  const TransportSet paused = peer.paused(monotonicNowNs());
  for (const Transport transport : listOf(paused)) {
    view.application.unhealthy.add(transport);
    view.allocated.unhealthy.add(transport);
  }
}

std::shared_ptr<const PeerView> Engine::Impl::viewWithPauses(Peer& peer) const {
  auto view = std::make_shared<PeerView>(*peer.view());
  takePauses(peer, *view);
  peer.setView(view);
  return view;
}

// Whether shm works between two processes is not known before it was tried: another network or user namespace, another
// user, or a kernel that forbids the copy are in the way without any of them being seen from here. That this process
// has run out of something is no such judgement, and an error.
Error Engine::Impl::judgeSharedMemory(Peer& peer, PeerView& view) {
  Lane* lane = peer.lane(Transport::kShm);
  if (lane == nullptr || !view.description.transports.has(Transport::kShm)) return {};
  const auto lacks = [](Environment& environment) { environment.peer_lacks.add(Transport::kShm); };
  std::shared_ptr<Link> link = lane->link();
  if (link == nullptr) {
    if (Error error = openLinkNow(peer, Transport::kShm)) {
      if (error.reason == Reason::kResourceExhausted) return error;
      lacks(view.application);
      lacks(view.allocated);
      return {};
    }
    link = lane->link();
    if (link == nullptr) return {};
  }
  RemoteRegion region;
  region.access = Access::kRead;
  if (link->reaches(region)) lacks(view.application);
  region.shared = true;
  if (link->reaches(region)) lacks(view.allocated);
  return {};
}

Error Engine::Impl::openLinkNow(Peer& peer, Transport transport) {
  Backend* backend = backendOf(transport);
  auto answer =
      ask(peer, {{"type", "connect"}, {"transport", std::string(nameOf(transport))}, {"offer", backend->offer()}});
  if (!answer) return std::move(answer.error());
  Lane* lane = peer.lane(transport);
  auto link = backend->connect(answerIn(*answer), peer.client().host(), lane->shared_from_this());
  if (!link) return std::move(link.error());
  if (Error error = (*link)->waitReady(options_.control_timeout_ns)) return error;
  lane->attach(*std::move(link));
  return {};
}

void Engine::Impl::openLink(const std::shared_ptr<Lane>& lane) noexcept {
  const std::shared_ptr<Peer> peer = lane->peer().shared_from_this();
  Backend* backend = backendOf(lane->transport());
  const Message request{
      {"type", "connect"}, {"transport", std::string(nameOf(lane->transport()))}, {"offer", backend->offer()}};
  const auto opened = [backend, lane, peer](tl::expected<Message, Error> answer) {
    if (!answer) return lane->openFailed(answer.error());
    if (peer->view()->description.instance != instanceOf(*answer)) return lane->openFailed(staleSegment(peer->name()));
    auto link = backend->connect(answerIn(*answer), peer->client().host(), lane);
    if (link) {
      lane->attach(*std::move(link));
    } else {
      lane->openFailed(link.error());
    }
  };
  peer->client().exchange(request, options_.control_timeout_ns, opened);
}

tl::expected<SegmentInfo, Error> Engine::Impl::segmentInfo(SegmentId segment) {
  if (segment == kLocalSegment) return SegmentInfo{segment_name_, memory_->info()};
  auto peer = peerOf(segment);
  if (!peer) return tl::unexpected(std::move(peer.error()));
  auto view = refresh(**peer);
  if (!view) return tl::unexpected(std::move(view.error()));
  SegmentInfo info;
  info.name = (*view)->description.name;
  for (const auto& [base, buffer] : (*view)->description.buffers) {
    const RemoteRegion& memory = buffer.memory;
    info.buffers.push_back(
        {base, memory.length, buffer.location,
         memory.access == Access::kReadWrite ? Permission::kGlobalReadWrite : Permission::kGlobalReadOnly,
         memory.shared ? Registration::kAllocated : Registration::kApplication});
  }
  return info;
}

tl::expected<Environment, Error> Engine::Impl::environmentFor(SegmentId segment, Registration registration) {
  auto peer = peerOf(segment);
  if (!peer) return tl::unexpected(std::move(peer.error()));
  return (*peer)->view()->environmentFor(registration == Registration::kAllocated);
}

tl::expected<std::vector<uint64_t>, Error> Engine::Impl::checksums(SegmentId segment, std::span<const Range> ranges) {
  auto peer = peerOf(segment);
  if (!peer) return tl::unexpected(std::move(peer.error()));
  std::vector<uint64_t> checksums;
  while (checksums.size() < ranges.size()) {
    Message asked = Message::array();
    for (const Range& range :
         ranges.subspan(checksums.size(), std::min(ranges.size() - checksums.size(), kMaxRangesPerRequest))) {
      asked.push_back({range.address, range.length});
    }
    const size_t count = asked.size();
    auto answer = ask(**peer, {{"type", "checksums"}, {"ranges", std::move(asked)}});
    if (!answer) return tl::unexpected(std::move(answer.error()));
    const auto it = answer->find("checksums");
    const bool complete = it != answer->end() && it->is_array() && it->size() == count &&
                          std::all_of(it->begin(), it->end(), [](const Message& m) { return m.is_number_unsigned(); });
    if (!complete) {
      return tl::unexpected(errorOf(Reason::kIoError, "the peer's checksums make no sense"));
    }
    for (const Message& checksum : *it) checksums.push_back(checksum.get<uint64_t>());
  }
  return checksums;
}

}  // namespace tent
