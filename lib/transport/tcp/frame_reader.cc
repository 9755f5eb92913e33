#include "transport/tcp/frame_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/system_calls.h"

namespace tent::tcp {
namespace {

constexpr uint64_t kDropBytes = 65536;
constexpr uint64_t kBytesPerCall = 1u << 30;  // the kernel gives 2 GiB at most
constexpr int kCallsPerTurn = 64;             // then others on the loop have theirs

}  // namespace

bool FrameReader::advance() {
  while (true) {
    if (phase_ == Phase::kHead) {
      if (next_got_ < sizeof next_) return true;
      paused_ = !handler_.mayContinue();
      if (paused_) return true;
      frame_ = next_;
      next_got_ = 0;
      if (frame_.magic != kMagic || frame_.entries == 0 || frame_.entries > kMaxEntries) return false;
      entries_.resize(frame_.entries * entry_bytes_);
      entries_got_ = 0;
      phase_ = Phase::kEntries;
    } else if (phase_ == Phase::kEntries) {
      if (entries_got_ < entries_.size()) return true;
      pieces_.clear();
      piece_ = 0;
      if (!handler_.takeEntries(entries_, frame_.payload_bytes, pieces_)) return false;
      phase_ = Phase::kPayload;
    } else {
      if (piece_ < pieces_.size()) return true;
      phase_ = Phase::kHead;
      if (!handler_.endFrame()) return false;
    }
  }
}

size_t FrameReader::gather(std::span<iovec> into) {
  size_t count = 0;
  bool whole_frame = true;
  if (phase_ == Phase::kEntries) {
    into[count++] = {entries_.data() + entries_got_, entries_.size() - entries_got_};
    whole_frame = frame_.payload_bytes == 0;
  }
  uint64_t bytes = 0;
  for (size_t i = piece_; phase_ == Phase::kPayload && i < pieces_.size(); ++i) {
    const InPiece& piece = pieces_[i];
    if (piece.data == nullptr && dropped_ == nullptr) dropped_ = std::make_unique<std::byte[]>(kDropBytes);
    const uint64_t limit = std::min(piece.data == nullptr ? kDropBytes : piece.length, kBytesPerCall - bytes);
    const uint64_t taken = std::min(piece.length, limit);
    into[count++] = {piece.data == nullptr ? dropped_.get() : piece.data, taken};
    bytes += taken;
    const bool last = i + 1 == pieces_.size();
    if (taken < piece.length || bytes == kBytesPerCall || (!last && count + 1 == into.size())) {
      whole_frame = false;
      break;
    }
  }
  if (whole_frame) into[count++] = {reinterpret_cast<std::byte*>(&next_) + next_got_, sizeof next_ - next_got_};
  return count;
}

void FrameReader::consume(uint64_t bytes) {
  if (phase_ == Phase::kEntries) {
    const uint64_t taken = std::min<uint64_t>(bytes, entries_.size() - entries_got_);
    entries_got_ += taken;
    bytes -= taken;
  }
  for (; phase_ == Phase::kPayload && piece_ < pieces_.size() && bytes > 0;) {
    InPiece& piece = pieces_[piece_];
    const uint64_t taken = std::min(bytes, piece.length);
    if (piece.data != nullptr) piece.data += taken;
    piece.length -= taken;
    bytes -= taken;
    if (piece.length == 0) ++piece_;
  }
  next_got_ += bytes;
}

FrameReader::Result FrameReader::read(int fd, uint64_t& bytes) {
  std::array<iovec, kPiecesPerCall> pieces;  // NOLINT(cppcoreguidelines-pro-type-member-init): gather fills it
  for (int calls = 0; calls < kCallsPerTurn; ++calls) {
    if (!advance()) return Result::kNonsense;
    if (paused_) return Result::kPaused;
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = gather(pieces);
    const ssize_t got = systemCalls().recvmsg(fd, &message, MSG_DONTWAIT);
    if (got == 0) return Result::kEnded;
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? Result::kBlocked : Result::kFailed;
    }
    bytes += static_cast<uint64_t>(got);
    consume(static_cast<uint64_t>(got));
  }
  return Result::kYield;
}

}  // namespace tent::tcp
