#include "transport/shm/wire.h"

#include <cerrno>
#include <cstring>

#include "base/system_calls.h"
#include "base/system_error.h"

namespace tent::shm {
namespace {

constexpr std::string_view kNamePrefix = "tent-shm-";
constexpr size_t kHexLength = 2 * sizeof(Secret);

// Room for one descriptor beside a message.
union PassedFd {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> space;
};

void takePassed(msghdr& message, Received& received) {
  received.passed_lost = (message.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS || part->cmsg_len < CMSG_LEN(sizeof(int))) {
      continue;
    }
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(part), sizeof(fd));
    received.passed.reset(fd);
  }
}

}  // namespace

std::string formatAnswer(const Answer& answer) {
  return std::string(kOffer) + " " + toHex(answer.name) + " " + toHex(answer.ticket);
}

tl::expected<Answer, Error> parseAnswer(std::string_view text) {
  const size_t name = kOffer.size() + 1;
  const size_t ticket = name + kHexLength + 1;
  if (text.size() == ticket + kHexLength && text.starts_with(kOffer) && text[name - 1] == ' ' &&
      text[ticket - 1] == ' ') {
    const auto parsed_name = ticketOfHex(text.substr(name, kHexLength));
    const auto parsed_ticket = ticketOfHex(text.substr(ticket));
    if (parsed_name && parsed_ticket) return Answer{*parsed_name, *parsed_ticket};
  }
  return tl::unexpected(errorOf(Reason::kIoError, "shm: the peer's answer makes no sense; is it another version?"));
}

SocketAddress::SocketAddress(const Secret& name) {
  const std::string text = std::string(kNamePrefix) + toHex(name);
  un.sun_family = AF_UNIX;
  text.copy(un.sun_path + 1, sizeof(un.sun_path) - 1);  // the leading NUL is what makes it abstract
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

const sockaddr* SocketAddress::get() const {
  return reinterpret_cast<const sockaddr*>(&un);
}

SendResult sendFrame(int socket, const Frame& frame, int passed) {
  Frame copy = frame;
  iovec part{&copy, sizeof(copy)};
  PassedFd control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (passed >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &passed, sizeof(passed));
  }
  while (true) {
    const ssize_t count = systemCalls().sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count == static_cast<ssize_t>(sizeof(frame))) return SendResult::kSent;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == ENOBUFS)) return SendResult::kWouldBlock;
    return SendResult::kFailed;
  }
}

Received receiveFrame(int socket) {
  Received received;
  iovec part{&received.frame, sizeof(received.frame)};
  PassedFd control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = CMSG_LEN(sizeof(int));  // not CMSG_SPACE: its padding would let in a second one
  ssize_t count = 0;
  do {
    count = systemCalls().recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    received.kind = errno == EAGAIN ? Received::Kind::kNothing : Received::Kind::kEnd;
    return received;
  }
  takePassed(message, received);
  const auto type = static_cast<uint32_t>(received.frame.type);
  const bool whole = count == static_cast<ssize_t>(sizeof(Frame)) && (message.msg_flags & MSG_TRUNC) == 0;
  const bool known =
      type >= static_cast<uint32_t>(FrameType::kHello) && type <= static_cast<uint32_t>(FrameType::kReleased);
  received.kind = whole && known ? Received::Kind::kFrame : Received::Kind::kEnd;
  return received;
}

tl::expected<PeerCredentials, Error> credentialsOf(int socket) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return tl::unexpected(errorOf(Reason::kIoError, "shm: SO_PEERCRED: " + describeSystemError(errno)));
  }
  return PeerCredentials{credentials.pid, credentials.uid};
}

}  // namespace tent::shm
