#include "transport/shm/target.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <doctest/doctest.h>

#include "base/random.h"
#include "transport/shared_memory.h"

namespace tent::shm {
namespace {

constexpr int kWatchdogMs = 60'000;

Fd connectTo(const std::string& answer) {
  const SocketAddress address(parseAnswer(answer)->name);
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(socket.get(), address.get(), address.length) == 0);
  return socket;
}

bool hasSomething(const Fd& socket, int timeout_ms) {
  pollfd wait{socket.get(), POLLIN, 0};
  return poll(&wait, 1, timeout_ms) == 1;
}

Received next(const Fd& socket) {
  REQUIRE(hasSomething(socket, kWatchdogMs));
  return receiveFrame(socket.get());
}

void say(const Fd& socket, FrameType type, uint64_t id = 0, const Secret& secret = {}) {
  Frame frame;
  frame.type = type;
  frame.id = id;
  frame.secret = secret;
  REQUIRE(sendFrame(socket.get(), frame) == SendResult::kSent);
}

struct TargetOnLoop {
  TargetOnLoop() : target(*Target::open(loop)) {}
  ~TargetOnLoop() { target->stop(); }
  TargetOnLoop(const TargetOnLoop&) = delete;
  TargetOnLoop& operator=(const TargetOnLoop&) = delete;

  // A connection that has shown its ticket.
  Fd enter() {
    const std::string answer = *target->answer();
    Fd socket = connectTo(answer);
    say(socket, FrameType::kHello, 0, parseAnswer(answer)->ticket);
    REQUIRE(next(socket).frame.type == FrameType::kWelcome);
    return socket;
  }

  Loop loop{"target-loop"};
  std::shared_ptr<Target> target;
};

TEST_CASE("a ticket lets one in, and tells where the nonce lies") {
  TargetOnLoop on;
  const std::string answer = *on.target->answer();
  const Fd socket = connectTo(answer);
  say(socket, FrameType::kHello, 0, parseAnswer(answer)->ticket);
  const Received welcome = next(socket);
  REQUIRE(welcome.frame.type == FrameType::kWelcome);
  CHECK(*reinterpret_cast<const Secret*>(welcome.frame.base) == welcome.frame.secret);

  const Fd second = connectTo(answer);
  say(second, FrameType::kHello, 0, parseAnswer(answer)->ticket);
  CHECK(next(second).frame.type == FrameType::kRefused);
  CHECK(next(second).kind == Received::Kind::kEnd);
}

TEST_CASE("who shows no ticket, a wrong one, or nonsense is hung up on") {
  TargetOnLoop on;
  const std::string answer = *on.target->answer();
  const Fd wrong = connectTo(answer);
  say(wrong, FrameType::kHello, 0, randomValue<Secret>());
  CHECK(next(wrong).frame.type == FrameType::kRefused);
  CHECK(next(wrong).kind == Received::Kind::kEnd);
  const Fd rude = connectTo(answer);
  say(rude, FrameType::kFetch, 1);
  CHECK(next(rude).frame.type == FrameType::kRefused);
  const Fd noisy = connectTo(answer);
  REQUIRE(::send(noisy.get(), "noise", 5, 0) == 5);
  CHECK(next(noisy).kind == Received::Kind::kEnd);
  const Fd silent = connectTo(answer);
  CHECK(next(silent).kind == Received::Kind::kEnd);  // after two seconds
  // None of this has used up the ticket.
  const Fd good = connectTo(answer);
  say(good, FrameType::kHello, 0, parseAnswer(answer)->ticket);
  CHECK(next(good).frame.type == FrameType::kWelcome);
  say(good, FrameType::kWelcome);
  CHECK(next(good).kind == Received::Kind::kEnd);
}

TEST_CASE("at most 64 that have shown no ticket are served") {
  TargetOnLoop on;
  const Fd proven = on.enter();
  const std::string answer = *on.target->answer();
  std::vector<Fd> silent;
  for (int i = 0; i < 64; ++i) silent.push_back(connectTo(answer));
  const Fd one_too_many = connectTo(answer);
  CHECK(next(one_too_many).kind == Received::Kind::kEnd);
  CHECK_FALSE(hasSomething(silent.front(), 0));
  say(silent.back(), FrameType::kHello, 0, parseAnswer(answer)->ticket);
  CHECK(next(silent.back()).frame.type == FrameType::kWelcome);
  silent.clear();
  say(proven, FrameType::kFetch, 1);
  CHECK(next(proven).frame.type == FrameType::kNoRegion);
}

TEST_CASE("processes of another user are not let in") {
  if (geteuid() != 0) {
    MESSAGE("not tested here: only root can be another user");
    return;
  }
  TargetOnLoop on;
  const Answer answer = *parseAnswer(*on.target->answer());
  const SocketAddress address(answer.name);
  const pid_t child = fork();
  if (child == 0) {
    // Nothing here allocates: the parent has threads.
    if (setresuid(65534, 65534, 65534) != 0) _exit(2);
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (::connect(fd, address.get(), address.length) != 0) _exit(3);
    Frame frame;
    frame.secret = answer.ticket;
    sendFrame(fd, frame);
    char byte = 0;
    const ssize_t count = ::recv(fd, &byte, 1, 0);
    _exit(count > 0 ? 1 : 0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("peers are given what the access of a region allows, and the kernel enforces it") {
  TargetOnLoop on;
  const auto writable = *SharedMemory::allocate(100, true);
  const auto read_only = *SharedMemory::allocate(100, false);
  const auto hidden = *SharedMemory::allocate(100, false);
  std::byte own{};
  CHECK_FALSE(on.target->add({1, writable->data(), 100, Access::kReadWrite, writable.get()}));
  CHECK_FALSE(on.target->add({2, read_only->data(), 100, Access::kRead, read_only.get()}));
  CHECK_FALSE(on.target->add({3, hidden->data(), 100, Access::kNone, hidden.get()}));
  CHECK_FALSE(on.target->add({4, &own, 1, Access::kRead, nullptr}));
  const Fd socket = on.enter();
  for (uint64_t id = 1; id <= 5; ++id) say(socket, FrameType::kFetch, id);

  const Received first = next(socket);
  CHECK(first.frame.type == FrameType::kRegion);
  CHECK(first.frame.base == reinterpret_cast<uintptr_t>(writable->data()));
  CHECK(first.frame.length == 100);
  CHECK(first.frame.value == static_cast<uint32_t>(Access::kReadWrite));
  CHECK(mmap(nullptr, 100, PROT_READ | PROT_WRITE, MAP_SHARED, first.passed.get(), 0) != MAP_FAILED);

  const Received second = next(socket);
  CHECK(second.frame.id == 2);
  CHECK(second.frame.value == static_cast<uint32_t>(Access::kRead));
  CHECK(mmap(nullptr, 100, PROT_READ | PROT_WRITE, MAP_SHARED, second.passed.get(), 0) == MAP_FAILED);
  CHECK(mmap(nullptr, 100, PROT_READ, MAP_SHARED, second.passed.get(), 0) != MAP_FAILED);

  const Received third = next(socket);
  CHECK(third.frame.type == FrameType::kNoRegion);
  CHECK(third.frame.value == static_cast<uint32_t>(Reason::kPermissionDenied));
  CHECK_FALSE(third.passed);

  const Received fourth = next(socket);
  CHECK(fourth.frame.type == FrameType::kRegion);
  CHECK_FALSE(fourth.passed);

  const Received fifth = next(socket);
  CHECK(fifth.frame.type == FrameType::kNoRegion);
  CHECK(fifth.frame.value == static_cast<uint32_t>(Reason::kOutOfRange));
}

TEST_CASE("memory that is not sealed as its access asks is not registered") {
  TargetOnLoop on;
  const auto writable = *SharedMemory::allocate(100, true);
  const auto read_only = *SharedMemory::allocate(100, false);
  CHECK(nameOf(on.target->add({1, writable->data(), 100, Access::kRead, writable.get()}).reason) ==
        "registration_failed");
  CHECK(nameOf(on.target->add({1, read_only->data(), 100, Access::kReadWrite, read_only.get()}).reason) ==
        "registration_failed");
}

TEST_CASE("taking a region back waits for the peers that have it, and for no others") {
  TargetOnLoop on;
  std::byte memory{};
  const Fd without = on.enter();
  on.target->add({1, &memory, 1, Access::kRead, nullptr});
  on.target->remove(1);
  on.target->remove(1);
  on.target->add({2, &memory, 1, Access::kRead, nullptr});
  const Fd socket = on.enter();
  say(socket, FrameType::kFetch, 2);
  CHECK(next(socket).frame.type == FrameType::kRegion);
  std::atomic<bool> removed{false};
  std::thread remover([&] {
    on.target->remove(2);
    removed = true;
  });
  const Received revoked = next(socket);
  CHECK(revoked.frame.type == FrameType::kRevoked);
  CHECK(revoked.frame.id == 2);
  CHECK_FALSE(removed);
  say(socket, FrameType::kFetch, 2);
  CHECK(next(socket).frame.type == FrameType::kNoRegion);
  say(socket, FrameType::kReleased, 2);
  remover.join();
  CHECK_FALSE(hasSomething(without, 0));
}

TEST_CASE("a peer that hangs up, or stands still, does not hold up the taking back") {
  TargetOnLoop on;
  std::byte memory{};
  const auto began = std::chrono::steady_clock::now();
  for (const bool hangs_up : {true, false}) {
    on.target->add({1, &memory, 1, Access::kRead, nullptr});
    Fd socket = on.enter();
    say(socket, FrameType::kFetch, 1);
    CHECK(next(socket).frame.type == FrameType::kRegion);
    std::thread remover([&] { on.target->remove(1); });
    CHECK(next(socket).frame.type == FrameType::kRevoked);
    if (hangs_up) socket.reset();
    remover.join();
  }
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(30));
}

TEST_CASE("answers that nobody uses do not pile up, and keep nobody out") {
  TargetOnLoop on;
  const std::string oldest = *on.target->answer();
  for (size_t i = 0; i < TicketBook::kMaxTickets; ++i) REQUIRE(on.target->answer());
  const Fd late = connectTo(oldest);
  say(late, FrameType::kHello, 0, parseAnswer(oldest)->ticket);
  CHECK(next(late).frame.type == FrameType::kRefused);
  on.enter();
}

}  // namespace
}  // namespace tent::shm
