// What engines tell each other over the control channel: frames of a 32-bit length (little endian) and a JSON text.
// Every request has one answer, which holds "instance" (another one when another process answers at the address) and
// either "error" or what was asked for.
//
//   {"type": "describe"}                                        -> a PeerDescription
//   {"type": "connect", "transport": "tcp", "offer": "..."}     -> {"answer": "..."}
//   {"type": "notify", "from": "host:port", "name": hex, "message": hex}  -> {"taken": true}
//   {"type": "checksums", "ranges": [[address, length], ...]}   -> {"checksums": [...]}
//   {"type": "stage_open" | "stage_copy" | "stage_close", ...}  -> see staging_messages.h
//
// Unknown keys are ignored and unknown types are refused, so that later versions can add both. Nothing that comes from
// a peer is trusted: lengths are bounded before they are used, kinds checked before they are read.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "base/error.h"
#include "intent/values.h"
#include "inventory/memory.h"
#include "transport/backend.h"

namespace tent {

using Message = nlohmann::json;

inline constexpr unsigned kProtocolVersion = 1;
inline constexpr size_t kFrameHeadBytes = 4;
inline constexpr size_t kMaxRequestBytes = 1u << 20;
inline constexpr size_t kMaxAnswerBytes = 64u << 20;
inline constexpr size_t kMaxRangesPerRequest = 16384;

// A region of the peer, as each transport that serves it is to be told, with what only planning needs of it.
struct PeerBuffer {
  MemoryLocation location;
  RemoteRegion memory;                        // without a key
  std::map<Transport, RemoteRegion> regions;  // the same with the transport's key

  // nullptr when the transport does not serve it.
  const RemoteRegion* regionFor(Transport transport) const {
    const auto it = regions.find(transport);
    return it == regions.end() ? nullptr : &it->second;
  }
};

// A segment as its engine describes it. Buffers that it keeps to itself are not in it.
struct PeerDescription {
  std::string name;
  std::string host;       // for people
  uint64_t instance = 0;  // another one when the process at this address is another
  std::string boot_id;    // equal on one machine
  TransportSet transports;
  std::map<uint64_t, PeerBuffer> buffers;  // by base; disjoint

  // The buffer that holds the whole range; nullptr when none does.
  const PeerBuffer* find(uint64_t address, uint64_t length) const;
};

std::string frameOf(const Message& message);
uint32_t lengthOfFrame(const unsigned char (&head)[kFrameHeadBytes]);

// A message of an answer or request; io_error when it is none.
tl::expected<Message, Error> parseMessage(std::string_view text);

// What a message holds at a key; nothing where it is no object, or the key is absent or of another kind.
const Message* fieldAt(const Message& message, const char* key);
std::optional<uint64_t> unsignedAt(const Message& message, const char* key);

Message messageOf(const PeerBuffer& buffer);
// Nothing when it is none.
std::optional<PeerBuffer> bufferOf(const Message& message);

Message messageOf(const PeerDescription& description);
// io_error when it is none, or of another protocol version, which the message names.
tl::expected<PeerDescription, Error> descriptionOf(const Message& message);

// The instance that an answer names; 0 when it names none.
uint64_t instanceOf(const Message& answer);

// The text of a connect's answer; "" when there is none.
std::string answerIn(const Message& answer);

Message errorMessage(const Error& error);
// The error that an answer holds; kNone when it holds none.
Error errorOf(const Message& answer);

}  // namespace tent
