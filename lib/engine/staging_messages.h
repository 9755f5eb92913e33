// What engines tell each other about staging buffers, each on a control connection of its own:
//
//   {"type": "stage_open", "chunk": bytes, "wanted": number}
//       -> {"lease": number, "count": number, "buffer": a PeerBuffer}
//   {"type": "stage_copy", "lease": number, "offset": bytes, "address": number, "length": bytes, "write": bool}
//       -> {"copied": bytes, "wanted_back": bool}
//   {"type": "stage_close", "lease": number}
//       -> {"closed": true}
//
// A lease is `count` chunks of memory of the target, one after the other in one buffer, which its holder alone knows.
// stage_copy moves bytes between that and the segment: with "write" into the segment's memory, which is checked as any
// access of a peer is. A connection has one lease; the lease ends with it.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>

#include <tl/expected.hpp>

#include "engine/wire.h"

namespace tent {

struct StageOpen {
  uint64_t chunk_bytes = 0;  // at least 1
  uint64_t wanted = 0;       // chunks, at least 1
};

struct LentBuffers {
  uint64_t lease = 0;
  uint64_t count = 0;  // chunks, at least 1
  PeerBuffer buffer;
};

struct StageCopy {
  uint64_t lease = 0;
  uint64_t offset = 0;   // in the lent buffer
  uint64_t address = 0;  // in the segment
  uint64_t length = 0;   // bytes, at least 1
  Direction direction = Direction::kRead;
};

Message messageOf(const StageOpen& open);
Message messageOf(const LentBuffers& lent);
Message messageOf(const StageCopy& copy);
Message stageCopied(uint64_t bytes, bool wanted_back);
Message stageClose(uint64_t lease);

// io_error when they make no sense; what a request says is then still to be checked against the lease.
tl::expected<StageOpen, Error> stageOpenOf(const Message& request);
tl::expected<StageCopy, Error> stageCopyOf(const Message& request);
// An answer that `asked` may have: as many chunks of its size as the buffer has room for, and no more than wanted.
tl::expected<LentBuffers, Error> lentBuffersOf(const Message& answer, const StageOpen& asked);
// Whether the buffers are wanted back. Not all of the bytes were copied: io_error.
tl::expected<bool, Error> wantedBackIn(const Message& answer, const StageCopy& asked);

}  // namespace tent
