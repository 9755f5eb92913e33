// Sockets in a storm, for as long as it lives: of the calls that move bytes every third is interrupted, many are told
// to come again, and the rest move a few bytes at most. For streams only: a short message of another kind is a broken
// one.
//
// Thread safety: as ReplacedCalls.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <type_traits>

#include "support/replaced_calls.h"

namespace tent {

class StormyCalls {
 public:
  StormyCalls() {
    systemCalls().sendmsg = [](int fd, const msghdr* message, int flags) {
      return moveLittle<const msghdr>(::sendmsg, fd, message, flags);
    };
    systemCalls().recvmsg = [](int fd, msghdr* message, int flags) {
      return moveLittle<msghdr>(::recvmsg, fd, message, flags);
    };
  }

 private:
  template <typename Message>
  static ssize_t moveLittle(ssize_t (*move)(int, Message*, int), int fd, Message* message, int flags) {
    static std::atomic<uint64_t> calls{0};
    const uint64_t call = calls.fetch_add(1);
    if (call % 3 == 0) return errno = EINTR, -1;
    if (call % 7 == 0) return errno = EAGAIN, -1;
    std::remove_const_t<Message> little = *message;
    iovec first = message->msg_iov[0];
    first.iov_len = std::min<size_t>(first.iov_len, 1 + call % 4099);
    little.msg_iov = &first;
    little.msg_iovlen = 1;
    return move(fd, &little, flags);
  }

  const ReplacedCalls replaced_;
};

}  // namespace tent
