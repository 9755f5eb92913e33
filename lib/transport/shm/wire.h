// What the two ends of a shm link say to each other: the text of an answer, and frames over a Unix socket that keeps
// their boundaries (SOCK_SEQPACKET), of which one may carry a descriptor. Both ends run on one machine, so a frame is a
// plain struct.
//
//     initiator                       target
//     kHello (ticket)            -->
//                                <--  kWelcome (where a nonce lies in the target's memory, and its value), or kRefused
//     kFetch (region id)         -->
//                                <--  kRegion (base, length, access; its memfd), or kNoRegion (why)
//                                <--  kRevoked (region id): nothing begins on it any more ...
//     kReleased (region id)      -->  ... and what was going on has ended
//
// The socket's name is in the abstract namespace: no file is left behind, and it is seen within one network namespace
// only.
//
// Thread safety: pure functions, and system calls on a descriptor of the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>

#include <tl/expected.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "transport/tickets.h"

namespace tent::shm {

using Secret = std::array<unsigned char, 16>;

// What an answer says: "shm1 NAME TICKET", both as 32 hexadecimal digits.
struct Answer {
  Secret name{};
  Ticket ticket{};
};
std::string formatAnswer(const Answer& answer);
tl::expected<Answer, Error> parseAnswer(std::string_view text);  // io_error

inline constexpr std::string_view kOffer = "shm1";

// The address of the socket of this name.
struct SocketAddress {
  explicit SocketAddress(const Secret& name);
  const sockaddr* get() const;

  sockaddr_un un{};
  socklen_t length = 0;
};

enum class FrameType : uint32_t { kHello = 1, kWelcome, kRefused, kFetch, kRegion, kNoRegion, kRevoked, kReleased };

struct Frame {
  FrameType type = FrameType::kHello;
  uint32_t value = 0;   // kRegion: the Access; kNoRegion: the Reason
  uint64_t id = 0;      // of a region
  uint64_t base = 0;    // kRegion; kWelcome: address of the nonce
  uint64_t length = 0;  // kRegion
  Secret secret{};      // kHello: the ticket; kWelcome: the nonce
};

enum class SendResult : uint8_t { kSent, kWouldBlock, kFailed };
// Neither blocks nor raises SIGPIPE. `passed`: a descriptor that goes along, -1 for none.
SendResult sendFrame(int socket, const Frame& frame, int passed = -1);

struct Received {
  enum class Kind : uint8_t { kFrame, kNothing, kEnd };  // kEnd: hung up, failed, or not a frame of ours
  Kind kind = Kind::kNothing;
  Frame frame;
  Fd passed;
  bool passed_lost = false;  // one was sent, and this process had no room for it
};
Received receiveFrame(int socket);

// The process at the other end of a connected Unix socket as the kernel knows it; pid 0: in a pid namespace that is not
// seen from here.
struct PeerCredentials {
  pid_t pid = 0;
  uid_t uid = 0;
};
tl::expected<PeerCredentials, Error> credentialsOf(int socket);

}  // namespace tent::shm
