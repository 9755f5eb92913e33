#include "transport/shm/peer_process.h"

#include <cerrno>

#include <poll.h>
#include <sys/syscall.h>

#include <fmt/format.h>

#include "base/system_calls.h"
#include "base/system_error.h"

namespace tent::shm {
namespace {

Error lost() {
  return errorOf(Reason::kPeerLost, "shm: the peer's process has ended");
}

// Why the kernel refused to copy, with what to do about it.
Error refusalOf(int error) {
  if (error == EPERM) {
    return errorOf(Reason::kPermissionDenied,
                   "shm: the kernel does not let this process copy the peer's memory (process_vm_readv: Operation not "
                   "permitted): /proc/sys/kernel/yama/ptrace_scope must be 0, and in a container the seccomp profile "
                   "must allow it, or grant CAP_SYS_PTRACE; memory that the peer's engine allocated works without");
  }
  return errorOfSystem(Reason::kIoError, "shm: memory of the peer cannot be copied", error);
}

}  // namespace

PeerProcess::PeerProcess(Fd socket, const PeerCredentials& credentials, uint64_t nonce_address, const Secret& nonce)
    : socket_(std::move(socket)), pid_(credentials.pid), self_(credentials.pid == getpid()) {
  if (!self_) copy_refusal_ = findCopyRefusal(nonce_address, nonce);
}

Error PeerProcess::findCopyRefusal(uint64_t nonce_address, const Secret& nonce) {
  if (pid_ <= 0) {
    return errorOf(Reason::kPermissionDenied,
                   "shm: the peer is in a pid namespace that this process does not see; memory that the peer's engine "
                   "allocated works, other memory does not");
  }
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) return refusalOf(errno);
  // The pid was the peer's when it began to listen. If the peer is still there, it is so now, and the pidfd is its.
  if (gone()) return lost();
  Secret seen{};
  uint64_t moved = 0;
  const iovec local{seen.data(), seen.size()};
  const iovec remote{reinterpret_cast<void*>(nonce_address), seen.size()};  // NOLINT(performance-no-int-to-ptr)
  const ssize_t count = systemCalls().process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  if (count < 0) return refusalOf(errno);
  moved = static_cast<uint64_t>(count);
  if (moved != seen.size() || seen != nonce) {
    return errorOf(Reason::kPermissionDenied,
                   "shm: the process that listens is not the one that answers; memory that "
                   "the peer's engine allocated works, other memory does not");
  }
  return {};
}

bool PeerProcess::gone() const {
  pollfd waits[] = {{socket_.get(), POLLRDHUP, 0}, {pidfd_.get(), POLLIN, 0}};  // poll ignores a descriptor of -1
  int count = 0;
  do {
    count = poll(waits, 2, 0);
  } while (count < 0 && errno == EINTR);
  return count < 0 || (waits[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 || waits[1].revents != 0;
}

Error PeerProcess::copy(Direction direction, std::byte* local, uint64_t remote, uint64_t length,
                        uint64_t& moved) const {
  // Before as well as after: once the process has been reaped its pid may become another's.
  if (gone()) return lost();
  const auto& call = direction == Direction::kRead ? systemCalls().process_vm_readv : systemCalls().process_vm_writev;
  for (uint64_t done = 0; done < length;) {
    const iovec here{local + done, length - done};
    const iovec there{reinterpret_cast<void*>(remote + done), length - done};  // NOLINT(performance-no-int-to-ptr)
    const ssize_t count = call(pid_, &here, 1, &there, 1, 0);
    if (count > 0) {
      done += static_cast<uint64_t>(count);
      moved += static_cast<uint64_t>(count);
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == ESRCH) return lost();
    if (count < 0 && errno == EPERM) return refusalOf(EPERM);
    if (gone()) return lost();
    if (count < 0 && errno != EFAULT) return errorOfSystem(Reason::kIoError, "shm: copying across processes", errno);
    return errorOf(Reason::kIoError, fmt::format("shm: {} bytes into the range, the registered memory of the target or "
                                                 "the local memory is not mapped",
                                                 done));
  }
  return gone() ? lost() : Error{};
}

}  // namespace tent::shm
