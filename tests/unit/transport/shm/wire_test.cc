#include "transport/shm/wire.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

#include <doctest/doctest.h>

#include "base/random.h"
#include "support/replaced_calls.h"

namespace tent::shm {
namespace {

struct SocketPair {
  SocketPair() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    left.reset(ends[0]);
    right.reset(ends[1]);
  }
  Fd left;
  Fd right;
};

TEST_CASE("an answer says what was put into it, and nothing else is one") {
  const Answer answer{randomValue<Secret>(), randomValue<Secret>()};
  CHECK(answer.name != answer.ticket);
  const std::string text = formatAnswer(answer);
  const auto parsed = parseAnswer(text);
  REQUIRE(parsed);
  CHECK(parsed->name == answer.name);
  CHECK(parsed->ticket == answer.ticket);

  CHECK_FALSE(parseAnswer(""));
  CHECK_FALSE(parseAnswer("shm1"));
  CHECK_FALSE(parseAnswer(text + "0"));
  CHECK_FALSE(parseAnswer(text + " "));
  CHECK_FALSE(parseAnswer(" " + text));
  CHECK_FALSE(parseAnswer(text.substr(1)));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string wrong = text;
    wrong[i] = 'X';
    CHECK_FALSE(parseAnswer(wrong));
    CHECK_FALSE(parseAnswer(text.substr(0, i)));
  }
}

TEST_CASE("a frame arrives as it was sent, alone or with a descriptor") {
  const SocketPair pair;
  Frame frame;
  frame.type = FrameType::kRegion;
  frame.value = 2;
  frame.id = 3;
  frame.base = 4;
  frame.length = 5;
  frame.secret = randomValue<Secret>();
  CHECK(receiveFrame(pair.right.get()).kind == Received::Kind::kNothing);
  REQUIRE(sendFrame(pair.left.get(), frame) == SendResult::kSent);
  REQUIRE(sendFrame(pair.left.get(), frame, pair.left.get()) == SendResult::kSent);
  for (const bool passes : {false, true}) {
    const Received received = receiveFrame(pair.right.get());
    REQUIRE(received.kind == Received::Kind::kFrame);
    CHECK(received.frame.type == frame.type);
    CHECK(received.frame.value == 2);
    CHECK(received.frame.id == 3);
    CHECK(received.frame.base == 4);
    CHECK(received.frame.length == 5);
    CHECK(received.frame.secret == frame.secret);
    CHECK(static_cast<bool>(received.passed) == passes);
    CHECK_FALSE(received.passed_lost);
    if (passes) CHECK(fcntl(received.passed.get(), F_GETFD) == FD_CLOEXEC);
  }
}

TEST_CASE("what is not a frame is the end") {
  const std::array<char, sizeof(Frame) + 1> bytes{};
  for (const size_t size : {size_t{1}, sizeof(Frame) - 1, sizeof(Frame), sizeof(Frame) + 1}) {
    const SocketPair pair;
    REQUIRE(::send(pair.left.get(), bytes.data(), size, 0) == static_cast<ssize_t>(size));
    CHECK(receiveFrame(pair.right.get()).kind == Received::Kind::kEnd);
  }
  SocketPair pair;
  Frame frame;
  frame.type = static_cast<FrameType>(9);
  REQUIRE(sendFrame(pair.left.get(), frame) == SendResult::kSent);
  CHECK(receiveFrame(pair.right.get()).kind == Received::Kind::kEnd);
  pair.left.reset();
  CHECK(receiveFrame(pair.right.get()).kind == Received::Kind::kEnd);
  CHECK(sendFrame(pair.right.get(), frame) == SendResult::kFailed);
}

TEST_CASE("of several descriptors one is taken, and no other left open") {
  const SocketPair pair;
  Frame frame;
  iovec part{&frame, sizeof(frame)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int fds[2] = {pair.left.get(), pair.right.get()};
  std::memcpy(CMSG_DATA(header), fds, sizeof(fds));
  REQUIRE(::sendmsg(pair.left.get(), &message, 0) > 0);

  const Fd next_free(dup(0));
  const int expected = next_free.get() + 1;
  const Received received = receiveFrame(pair.right.get());
  CHECK(received.passed_lost);
  CHECK(received.passed.get() == expected);
  const Fd after(dup(0));
  CHECK(after.get() == expected + 1);
}

TEST_CASE("interruptions are not seen, and a full socket is not a failure") {
  const ReplacedCalls replaced;
  static int interruptions;
  interruptions = 2;
  systemCalls().sendmsg = [](int fd, const msghdr* message, int flags) -> ssize_t {
    if (interruptions-- > 0) {
      errno = EINTR;
      return -1;
    }
    return ::sendmsg(fd, message, flags);
  };
  systemCalls().recvmsg = [](int fd, msghdr* message, int flags) -> ssize_t {
    if (interruptions++ < 0) {
      errno = EINTR;
      return -1;
    }
    return ::recvmsg(fd, message, flags);
  };
  const SocketPair pair;
  CHECK(sendFrame(pair.left.get(), {}) == SendResult::kSent);
  CHECK(receiveFrame(pair.right.get()).kind == Received::Kind::kFrame);
  systemCalls() = SystemCalls();
  SendResult result = SendResult::kSent;
  while (result == SendResult::kSent) result = sendFrame(pair.left.get(), {});
  CHECK(result == SendResult::kWouldBlock);
}

TEST_CASE("the process at the other end is known from the kernel") {
  const SocketPair pair;
  const auto credentials = credentialsOf(pair.left.get());
  REQUIRE(credentials);
  CHECK(credentials->pid == getpid());
  CHECK(credentials->uid == geteuid());
  CHECK_FALSE(credentialsOf(-1));
}

}  // namespace
}  // namespace tent::shm
