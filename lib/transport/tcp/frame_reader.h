// Frames as they come in: heads and entries into a buffer of its own, payloads scattered to where they belong, with the
// buffer behind them for what follows.
//
// How far a reader goes before it knows where a payload goes is its owner's choice. A whole buffer: a small frame takes
// one call, and the few KiB of payload that come along are copied once more. A head and one entry: no payload is
// copied, and a frame of one entry takes one call when another frame came before it, two otherwise.
//
// Thread safety: none; a reader belongs to the loop's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sys/uio.h>

#include "transport/tcp/channel.h"
#include "transport/tcp/wire.h"

namespace tent::tcp {

// A place for a part of a payload; without data the bytes are dropped. `length` is at least 1.
struct InPiece {
  std::byte* data = nullptr;
  uint64_t length = 0;
  bool mapped = true;  // else it is not known
};

class FrameReader {
 public:
  // What is done with frames.
  class Handler {
   public:
    virtual ~Handler() = default;
    // The entries of a frame; says where its payload goes: pieces of `payload_bytes` in all. False: the peer speaks
    // nonsense.
    virtual bool takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes,
                             std::vector<InPiece>& pieces) = 0;
    // The next `count` pieces are filled, in their order.
    virtual void endPieces(size_t count) = 0;
    // Whether another frame may begin now; read() returns kPaused where not.
    virtual bool mayContinue() = 0;
  };

  static constexpr size_t kStagedBytes = 16384;

  // `entry_bytes`: the size of an entry. `ahead_bytes`: what is read of a frame of which nothing is known; at most
  // kStagedBytes, and at most a head and an entry where no payload may be copied.
  FrameReader(Handler& handler, size_t entry_bytes, size_t ahead_bytes)
      : handler_(handler), entry_bytes_(entry_bytes), ahead_bytes_(ahead_bytes) {}

  // kMore: something came, and there may be more already. kFailed: errno says why.
  enum class Result : uint8_t { kMore, kBlocked, kPaused, kEnded, kFailed, kNonsense };
  // Goes on with what came before a pause, then reads once. `bytes` grows with what came.
  Result read(Channel channel, uint64_t& bytes);

 private:
  static constexpr size_t kPiecesPerCall = 512;
  static_assert(kStagedBytes >= sizeof(Head) + kMaxEntries * sizeof(RequestEntry));
  static_assert(kStagedBytes >= sizeof(Head) + kMaxEntries * sizeof(ResponseEntry));

  enum class Next : uint8_t { kBytes, kPause, kNonsense, kUnmapped };
  // Goes through all that needs no further byte.
  Next advance();
  size_t gather(std::span<iovec> into, uint64_t& bytes);
  // False: a piece that was to take staged bytes is not mapped.
  bool fillPieces(const std::byte* staged, uint64_t bytes);
  size_t staged() const { return staged_end_ - staged_begin_; }
  size_t stageNext() const;

  Handler& handler_;
  const size_t entry_bytes_;
  const size_t ahead_bytes_;
  std::array<std::byte, kStagedBytes> staged_{};  // between begin and end: what was read and not yet gone through
  size_t staged_begin_ = 0;
  size_t staged_end_ = 0;
  std::vector<InPiece> pieces_;  // what is left of the payload, from piece_ on
  size_t piece_ = 0;
  std::unique_ptr<std::byte[]> dropped_;  // made when something is first dropped
};

}  // namespace tent::tcp
