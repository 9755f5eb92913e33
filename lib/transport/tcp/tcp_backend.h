// Transfers over TCP: to any peer that can be reached, copied by the kernels of both ends and, but for a few KiB of a
// read that come along with a frame's head, by nobody else; on the target by nobody at all.
//
// One listening socket a backend; an answer holds its port and a single-use ticket for each stream of a link. Frames
// carry up to some hundred transfers each: their heads first, then the bytes of all writes, gathered from and scattered
// to the registered memory itself. Requests are pipelined; the target answers in the order it finishes them.
//
// The target checks every range against its regions before it accepts a byte for it, and drops the bytes of a refused
// write. Lengths from the wire are checked before they are used.
//
// Bytes travel as they are, and so does the ticket: who can read the network reads them, and who can change it changes
// them, or takes the stream over. With `encrypt` they travel in TLS, whose key comes with the answer, which costs both
// ends the encrypting and a copy.
//
// A failed read is settled: once its socket is closed nothing more is written here. A failed write of which bytes were
// sent is unsettled: they may lie in the peer's socket, to be applied when it runs on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/backend.h"
#include "transport/loop.h"

namespace tent {

struct TcpOptions {
  std::string bind_address = "127.0.0.1";  // numeric
  uint16_t port = 0;                       // 0: any free one
  uint32_t streams = 1;                    // sockets of a link, 1 to 16
  uint64_t connect_timeout_ns = 5'000'000'000;
  // Encrypts all streams: those of this side's links, and those of peers to here. Either side's wish is enough.
  bool encrypt = false;
  // A link with transfers in flight on which no byte has moved for so long is ended with peer_lost.
  uint64_t stall_timeout_ns = 10'000'000'000;
};

// Listens at once; io_error names the address and what to do when it is taken. `loop` outlives the backend.
tl::expected<std::unique_ptr<Backend>, Error> makeTcpBackend(Loop& loop, const TcpOptions& options);

}  // namespace tent
