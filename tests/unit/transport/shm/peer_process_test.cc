#include "transport/shm/peer_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <doctest/doctest.h>

#include "base/random.h"
#include "support/replaced_calls.h"

namespace tent::shm {
namespace {

constexpr size_t kPage = 4096;

// A process that shares nothing with this one but what it had at the fork, and sleeps until killed. Its memory is found
// at the same addresses.
class Child {
 public:
  Child() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    ours_.reset(ends[0]);
    const Fd theirs(ends[1]);
    nonce_ = randomValue<Secret>();
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::close(ends[0]);
      while (true) pause();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { kill(); }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  PeerProcess examine(pid_t pid, const Secret& nonce) {
    return {Fd(dup(ours_.get())), {pid, geteuid()}, reinterpret_cast<uintptr_t>(nonce_.data()), nonce};
  }
  PeerProcess examine(const Secret& nonce) { return examine(pid_, nonce); }
  PeerProcess examine() { return examine(pid_, nonce_); }
  const Secret& nonce() const { return nonce_; }

 private:
  Secret nonce_{};
  Fd ours_;
  pid_t pid_ = 0;
};

// Skips with a message where the kernel does not let these tests copy at all.
bool canCopy(const PeerProcess& peer) {
  if (!peer.copyRefusal()) return true;
  MESSAGE("not tested here: " << peer.copyRefusal().detail);
  return false;
}

TEST_CASE("memory is copied both ways, and counted") {
  std::vector<std::byte> memory(3 * kPage + 5, std::byte{1});
  Child child;
  const PeerProcess peer = child.examine();
  if (!canCopy(peer)) return;
  CHECK_FALSE(peer.isSelf());
  const uint64_t there = reinterpret_cast<uintptr_t>(memory.data());
  std::vector<std::byte> local(memory.size(), std::byte{2});
  uint64_t moved = 0;
  CHECK_FALSE(peer.copy(Direction::kWrite, local.data(), there, local.size(), moved));
  CHECK(moved == local.size());
  std::fill(local.begin(), local.end(), std::byte{3});
  CHECK_FALSE(peer.copy(Direction::kRead, local.data(), there, local.size(), moved));
  CHECK(moved == 2 * local.size());
  CHECK(std::all_of(local.begin(), local.end(), [](std::byte byte) { return byte == std::byte{2}; }));
  CHECK(std::all_of(memory.begin(), memory.end(), [](std::byte byte) { return byte == std::byte{1}; }));
}

TEST_CASE("a process that cannot be proved to be the peer is not copied from") {
  Child child;
  if (!canCopy(child.examine())) return;
  CHECK(child.examine(getppid(), child.nonce()).copyRefusal());
  Secret wrong = child.nonce();
  wrong[15] ^= 1;
  CHECK(nameOf(child.examine(wrong).copyRefusal().reason) == "permission_denied");
  const PeerProcess hidden = child.examine(0, child.nonce());
  CHECK(hidden.copyRefusal().detail.find("pid namespace") != std::string::npos);
}

TEST_CASE("a peer that was killed is gone, and nothing copied is reported as whole") {
  std::byte memory{1};
  Child child;
  const PeerProcess peer = child.examine();
  CHECK_FALSE(peer.gone());
  child.kill();
  CHECK(peer.gone());
  uint64_t moved = 0;
  std::byte local{2};
  const Error error = peer.copy(Direction::kRead, &local, reinterpret_cast<uintptr_t>(&memory), 1, moved);
  CHECK(nameOf(error.reason) == "peer_lost");
  CHECK(moved == 0);
}

TEST_CASE("a peer that dies while it is copied is lost, even when the copy was whole") {
  static Child* dying;
  std::byte memory{1};
  Child child;
  const PeerProcess peer = child.examine();
  if (!canCopy(peer)) return;
  const ReplacedCalls replaced;
  dying = &child;
  systemCalls().process_vm_writev = [](pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                                       unsigned long) -> ssize_t {
    dying->kill();
    return 1;
  };
  uint64_t moved = 0;
  const Error error = peer.copy(Direction::kWrite, &memory, reinterpret_cast<uintptr_t>(&memory), 1, moved);
  CHECK(nameOf(error.reason) == "peer_lost");
}

TEST_CASE("short copies and interruptions are gone on from") {
  std::vector<std::byte> memory(1000);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i);
  Child child;
  const PeerProcess peer = child.examine();
  if (!canCopy(peer)) return;
  const ReplacedCalls replaced;
  static int calls;
  calls = 0;
  systemCalls().process_vm_readv = [](pid_t pid, const iovec* here, unsigned long, const iovec* there, unsigned long,
                                      unsigned long) -> ssize_t {
    if (++calls % 3 == 0) {
      errno = EINTR;
      return -1;
    }
    const iovec short_here{here->iov_base, std::min<size_t>(here->iov_len, 7)};
    const iovec short_there{there->iov_base, short_here.iov_len};
    return ::process_vm_readv(pid, &short_here, 1, &short_there, 1, 0);
  };
  std::vector<std::byte> local(1000);
  uint64_t moved = 0;
  CHECK_FALSE(peer.copy(Direction::kRead, local.data(), reinterpret_cast<uintptr_t>(memory.data()), 1000, moved));
  CHECK(moved == 1000);
  CHECK(local == memory);
}

TEST_CASE("memory that is not mapped is an error that says how far the copy came") {
  void* const pages = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  munmap(static_cast<std::byte*>(pages) + kPage, kPage);
  Child child;
  const PeerProcess peer = child.examine();
  if (!canCopy(peer)) return;
  std::vector<std::byte> local(2 * kPage);
  uint64_t moved = 0;
  const Error error = peer.copy(Direction::kRead, local.data(), reinterpret_cast<uintptr_t>(pages), 2 * kPage, moved);
  CHECK(nameOf(error.reason) == "io_error");
  CHECK(error.detail.find("4096 bytes into the range") != std::string::npos);
  CHECK(moved == kPage);
  munmap(pages, kPage);
}

TEST_CASE("a kernel that forbids copying is taken at its word, with a hint") {
  const ReplacedCalls replaced;
  systemCalls().process_vm_readv = [](pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                                      unsigned long) -> ssize_t {
    errno = EPERM;
    return -1;
  };
  Child child;
  const Error refusal = child.examine().copyRefusal();
  CHECK(nameOf(refusal.reason) == "permission_denied");
  CHECK(refusal.detail.find("ptrace_scope") != std::string::npos);
  systemCalls().process_vm_readv = [](pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                                      unsigned long) -> ssize_t {
    errno = ENOSYS;
    return -1;
  };
  CHECK(nameOf(child.examine().copyRefusal().reason) == "io_error");
}

}  // namespace
}  // namespace tent::shm
