// The targets of a run: how the command line names them, and which of their buffers a vector means. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "config/vectors.h"
#include "engine/engine.h"

namespace tent::tool {

struct PeerAddress {
  std::string name;     // of the segment; "" takes the vectors that name none
  std::string address;  // "host:port"
};

// Of "[NAME=]HOST:PORT", where HOST is a name, an IPv4 address, or an IPv6 address in brackets. The error is a
// sentence.
tl::expected<PeerAddress, std::string> parsePeer(std::string_view text);

struct Peer {
  PeerAddress given;
  bool any_segment = false;  // our own target, which is whatever segment a vector names
  SegmentInfo info;          // as it described itself
};

// The number of the peer that a segment's vectors go to.
std::optional<size_t> findPeer(std::span<const Peer> peers, std::string_view segment);

// How to name the peer in a message: "node-b at 10.0.0.2:4000".
std::string describe(const Peer& peer);

// What is wrong when the peer calls itself something else than the command line does; "" nothing. A target that has no
// name of its own is called as its address, which may be written in other ways.
std::string nameConflict(const Peer& peer);

// Where a vector's range begins in the peer's memory: in the first buffer of its registration and memory. out_of_range,
// permission_denied.
tl::expected<uint64_t, Error> locateTarget(const Peer& peer, const Vector& vector);

}  // namespace tent::tool
