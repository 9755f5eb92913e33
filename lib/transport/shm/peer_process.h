// The process at the other end of a link: whether it lives, and copying between its memory and this process's.
//
// Invariants
//  1. The pid comes from the kernel (SO_PEERCRED), never from a message, and is held by a pidfd; that it is the process
//     that speaks over the socket is proved by a nonce read from its memory.
//  2. A copy is reported as whole only if the process was alive after it.
//
// Thread safety: immutable once made; all members may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "base/fd.h"
#include "transport/backend.h"
#include "transport/shm/wire.h"

namespace tent::shm {

class PeerProcess {
 public:
  // Takes over the connected socket of a peer whose credentials were checked. Finds out, with the nonce that the peer
  // says lies at this address, whether the kernel lets this process copy the peer's memory.
  PeerProcess(Fd socket, const PeerCredentials& credentials, uint64_t nonce_address, const Secret& nonce);

  int socket() const { return socket_.get(); }
  int pidfd() const { return pidfd_.get(); }  // -1: there is none
  bool isSelf() const { return self_; }

  // Why memory cannot be copied across the processes; kNone when it can.
  const Error& copyRefusal() const { return copy_refusal_; }

  // One system call.
  bool gone() const;

  // Copies between `local` and `remote`, an address in the peer, and adds to `moved` what was copied. kNone, peer_lost,
  // io_error.
  Error copy(Direction direction, std::byte* local, uint64_t remote, uint64_t length, uint64_t& moved) const;

 private:
  Error findCopyRefusal(uint64_t nonce_address, const Secret& nonce);

  Fd socket_;
  pid_t pid_;
  bool self_;
  Fd pidfd_;
  Error copy_refusal_;
};

}  // namespace tent::shm
