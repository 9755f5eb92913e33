// What the two ends of a fake link say to each other over a Unix stream socket, one exchange at a time:
//
//     initiator                      target
//     Hello (ticket)            -->  Verdict
//     Request (read)            -->  Verdict, then the bytes
//     Request (write)           -->  Verdict
//     the bytes                 -->  Verdict, when all are in place
//
// Thread safety: functions on a descriptor of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.h"
#include "base/fd.h"
#include "transport/backend.h"
#include "transport/tickets.h"

namespace tent::fake {

struct Address {
  uint64_t name = 0;
  Ticket ticket{};
};
std::string formatAddress(const Address& address);  // "fake NAME TICKET"
bool parseAddress(std::string_view text, Address& into);

struct SocketAddress {
  explicit SocketAddress(uint64_t name);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&un); }

  sockaddr_un un{};
  socklen_t length = 0;
};

struct Hello {
  Ticket ticket{};
};
struct Request {
  Direction direction = Direction::kRead;
  uint32_t region = 0;  // as RegionTable::use takes it
  uint64_t address = 0;
  uint64_t length = 0;
};
struct Verdict {
  Reason reason = Reason::kNone;
};

// Whether the process at the other end runs as this user.
bool sameUser(int socket);

enum class Io : uint8_t { kDone, kEnded, kStalled };
// From here on sends and receives fail with kStalled when nothing moves for so long.
void limitStalls(int socket, uint64_t timeout_ns);
Io sendAll(int socket, const void* bytes, size_t count);
Io receiveAll(int socket, void* bytes, size_t count);

}  // namespace tent::fake
