#include "transport/fake/fake_wire.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <sys/time.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/system_calls.h"

namespace tent::fake {
namespace {

constexpr size_t kDigits = 16;
constexpr std::string_view kPrefix = "fake ";

bool parseNumber(std::string_view text, uint64_t& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, 16);
  return error == std::errc() && end == text.data() + text.size();
}

// Moves all bytes with `call`, which is sendmsg or recvmsg.
template <typename Call>
Io moveAll(void* start, size_t count, const Call& call) {
  auto* bytes = static_cast<char*>(start);
  while (count > 0) {
    iovec part{bytes, count};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t moved = call(&message);
    if (moved > 0) {
      bytes += moved;
      count -= static_cast<size_t>(moved);
      continue;
    }
    if (moved < 0 && errno == EINTR) continue;
    return moved < 0 && errno == EAGAIN ? Io::kStalled : Io::kEnded;
  }
  return Io::kDone;
}

}  // namespace

std::string formatAddress(const Address& address) {
  return fmt::format("{}{:016x} {}", kPrefix, address.name, toHex(address.ticket));
}

bool parseAddress(std::string_view text, Address& into) {
  if (text.size() <= kPrefix.size() + kDigits || !text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  const auto ticket = ticketOfHex(text.substr(kDigits + 1));
  if (text[kDigits] != ' ' || !ticket || !parseNumber(text.substr(0, kDigits), into.name)) return false;
  into.ticket = *ticket;
  return true;
}

SocketAddress::SocketAddress(uint64_t name) {
  const std::string text = fmt::format("tent-fake-{:016x}", name);
  un.sun_family = AF_UNIX;
  text.copy(un.sun_path + 1, sizeof(un.sun_path) - 1);  // the leading NUL is what makes it abstract
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

bool sameUser(int socket) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 && credentials.uid == geteuid();
}

void limitStalls(int socket, uint64_t timeout_ns) {
  timeval limit{};
  limit.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
  limit.tv_usec = static_cast<suseconds_t>(std::max<uint64_t>(timeout_ns % 1'000'000'000 / 1000, 1));  // 0 is no limit
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

Io sendAll(int socket, const void* bytes, size_t count) {
  // An iovec is the same for both ways; sendmsg does not write to it.
  return moveAll(const_cast<void*>(bytes), count,  // NOLINT(cppcoreguidelines-pro-type-const-cast)
                 [socket](msghdr* message) { return systemCalls().sendmsg(socket, message, MSG_NOSIGNAL); });
}

Io receiveAll(int socket, void* bytes, size_t count) {
  return moveAll(bytes, count, [socket](msghdr* message) { return systemCalls().recvmsg(socket, message, 0); });
}

}  // namespace tent::fake
