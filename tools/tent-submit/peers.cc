#include "tent-submit/peers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "engine/address.h"

namespace tent::tool {
namespace {

// Host memory is host memory: a target need not know its NUMA nodes to serve a vector that names one.
const BufferInfo* findBuffer(const SegmentInfo& info, Registration registration, const MemoryLocation& location) {
  const BufferInfo* near = nullptr;
  for (const BufferInfo& buffer : info.buffers) {
    if (buffer.registration != registration) continue;
    if (buffer.location == location) return &buffer;
    const bool both_host = buffer.location.kind == MemoryKind::kCpu && location.kind == MemoryKind::kCpu;
    if (near == nullptr && both_host) near = &buffer;
  }
  return near;
}

Error outOfRange(uint64_t offset, std::string detail) {
  return {Reason::kOutOfRange, Field::kTargetOffset, -1, offset, std::move(detail)};
}

}  // namespace

tl::expected<PeerAddress, std::string> parsePeer(std::string_view text) {
  PeerAddress peer;
  const size_t equals = text.find('=');
  const bool named = equals != std::string_view::npos;
  if (named) peer.name = text.substr(0, equals);
  peer.address = named ? text.substr(equals + 1) : text;
  const auto address = parseAddress(peer.address);
  if (!address || address->port == 0 || (named && peer.name.empty())) {
    return tl::unexpected(
        fmt::format("must be HOST:PORT or NAME=HOST:PORT, IPv6 addresses in brackets, is {}", escapeForTerminal(text)));
  }
  return peer;
}

std::optional<size_t> findPeer(std::span<const Peer> peers, std::string_view segment) {
  const auto it = std::find_if(peers.begin(), peers.end(),
                               [&](const Peer& peer) { return peer.any_segment || peer.given.name == segment; });
  if (it == peers.end()) return std::nullopt;
  return static_cast<size_t>(it - peers.begin());
}

std::string describe(const Peer& peer) {
  if (peer.any_segment) return "the target on this machine";
  const std::string address = escapeForTerminal(peer.given.address);
  return peer.given.name.empty() ? address : fmt::format("{} at {}", escapeForTerminal(peer.given.name), address);
}

std::string nameConflict(const Peer& peer) {
  const std::string& own = peer.info.name;
  if (peer.any_segment || peer.given.name.empty() || own == peer.given.name || parseAddress(own)) return "";
  return fmt::format("the target at {} calls itself \"{}\", not \"{}\": give --peer {}={}, or another address",
                     escapeForTerminal(peer.given.address), escapeForTerminal(own), escapeForTerminal(peer.given.name),
                     escapeForTerminal(own), escapeForTerminal(peer.given.address));
}

tl::expected<uint64_t, Error> locateTarget(const Peer& peer, const Vector& vector) {
  const uint64_t offset = vector.fields.target_offset;
  const std::string_view registration = nameOf(vector.target_registration);
  const BufferInfo* buffer = findBuffer(peer.info, vector.target_registration, vector.target_memory);
  if (buffer == nullptr) {
    return tl::unexpected(
        outOfRange(offset, fmt::format("{} has no buffer of registration {} in memory {}", describe(peer), registration,
                                       toString(vector.target_memory))));
  }
  if (vector.fields.length > buffer->length || offset > buffer->length - vector.fields.length) {
    const std::string advice =
        peer.any_segment
            ? "a target of its own has at most an eighth of this machine's memory; serve a larger one with "
              "tent-submit --serve --size BYTES, and give its --peer"
            : "serve a larger one with --size BYTES";
    return tl::unexpected(outOfRange(
        offset, fmt::format("with {} to move it ends beyond the buffer of registration {}, "
                            "which has {}: {}",
                            formatSize(vector.fields.length), registration, formatSize(buffer->length), advice)));
  }
  const bool writes = vector.fields.opcode == static_cast<int32_t>(Opcode::kWrite);
  if (writes && buffer->permission != Permission::kGlobalReadWrite) {
    return tl::unexpected(
        Error{Reason::kPermissionDenied, Field::kTargetOffset, -1, offset,
              fmt::format("{} lets peers only read its buffer of registration {}", describe(peer), registration)});
  }
  return buffer->base + offset;
}

}  // namespace tent::tool
