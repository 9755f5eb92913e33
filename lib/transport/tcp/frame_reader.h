// Frames as they come in: heads and entries read here, payloads scattered to where they belong, and the next frame's
// head with the same call.
//
// Thread safety: none; a reader belongs to the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sys/uio.h>

#include "transport/tcp/wire.h"

namespace tent::tcp {

// A place for a part of a payload; without data the bytes are dropped.
struct InPiece {
  std::byte* data = nullptr;
  uint64_t length = 0;
};

class FrameReader {
 public:
  // What is done with frames. False from any of them: the peer speaks nonsense.
  class Handler {
   public:
    virtual ~Handler() = default;
    // The entries of a frame; says where its payload goes: pieces of `payload_bytes` in all.
    virtual bool takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes,
                             std::vector<InPiece>& pieces) = 0;
    // Its payload is there.
    virtual bool endFrame() = 0;
    // Whether another frame may begin now; read() returns kPaused where not.
    virtual bool mayContinue() = 0;
  };

  // `entry_bytes`: the size of an entry.
  FrameReader(Handler& handler, size_t entry_bytes) : handler_(handler), entry_bytes_(entry_bytes) {}

  enum class Result : uint8_t { kBlocked, kPaused, kYield, kEnded, kFailed, kNonsense };  // kFailed: errno says why
  // Reads what is there, but not for ever: kYield asks to be called again. `bytes` grows with what came.
  Result read(int fd, uint64_t& bytes);

 private:
  enum class Phase : uint8_t { kHead, kEntries, kPayload };
  static constexpr size_t kPiecesPerCall = 512;

  // Goes through all that needs no further byte. False: nonsense.
  bool advance();
  size_t gather(std::span<iovec> into);
  void consume(uint64_t bytes);

  Handler& handler_;
  const size_t entry_bytes_;
  Phase phase_ = Phase::kHead;
  bool paused_ = false;
  Head frame_;  // of the frame that is being read
  Head next_;   // of the one after it, as far as it has come
  size_t next_got_ = 0;
  std::vector<std::byte> entries_;
  size_t entries_got_ = 0;
  std::vector<InPiece> pieces_;  // what is left of the payload, from piece_ on
  size_t piece_ = 0;
  std::unique_ptr<std::byte[]> dropped_;  // made when something is first dropped
};

}  // namespace tent::tcp
