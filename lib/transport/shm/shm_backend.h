// Transfers between processes of one machine, by copying in the initiator's process:
//
//  - memory that the peer's engine allocated is mapped here (its sealed memfd comes by SCM_RIGHTS) and copied with
//    memcpy. The kernel enforces what peers may do with it: a read-only region cannot be mapped for writing.
//  - memory that the peer's application registered is copied across processes (process_vm_readv, process_vm_writev),
//    only between processes of one user, and only where the kernel allows it, which is tried once when a link opens.
//    The peer is the process at the other end of the link's socket, as the kernel names it, held by a pidfd. The bounds
//    and the access that hold here are those that the peer described, and the initiator's library checks them: the
//    target cannot.
//
// Both ends must run as the same user and in one network namespace (the socket has no file); the initiator must see the
// peer's pid for memory of the second kind. A region is described, and its memfd passed, when a link first uses it:
// that one transfer waits for the target's loop, later ones need nothing of the target's process.
//
// Local-only memory is never shared. Unregistering has every peer that was given the region let go of it, and waits for
// that, for two seconds in case one stands still. It rests on the peers' library, not on the kernel: a mapping keeps
// the pages of freed memory alive.
//
// Small transfers are copied within submit, larger ones by the link's copy thread and by threads that wait (progress).
// A failed transfer is settled, since nobody else is copying.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/backend.h"
#include "transport/loop.h"

namespace tent {

struct ShmOptions {
  // Copied within one submit; the rest of its transfers is left to the copy threads. Bytes.
  uint64_t inline_bytes = 1u << 20;
  uint32_t copy_threads = 1;  // of the backend, 1 to 64
  // The handshake of a link. Nanoseconds.
  uint64_t connect_timeout_ns = 2'000'000'000;
};

// `loop` outlives the backend. io_error when the socket cannot be made.
tl::expected<std::unique_ptr<Backend>, Error> makeShmBackend(Loop& loop, const ShmOptions& options);

}  // namespace tent
