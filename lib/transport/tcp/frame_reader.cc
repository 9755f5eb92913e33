#include "transport/tcp/frame_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/system_calls.h"
#include "transport/checked_copy.h"
#include "transport/tcp/limits.h"

namespace tent::tcp {
namespace {

constexpr uint64_t kDropBytes = 65536;

}  // namespace

FrameReader::Next FrameReader::advance() {
  while (true) {
    if (piece_ < pieces_.size()) {
      const uint64_t bytes = staged();
      if (!fillPieces(staged_.data() + staged_begin_, bytes)) return Next::kUnmapped;
      if (piece_ < pieces_.size()) return Next::kBytes;
    }
    if (staged() < sizeof(Head)) return Next::kBytes;
    if (!handler_.mayContinue()) return Next::kPause;
    Head head;
    std::memcpy(&head, staged_.data() + staged_begin_, sizeof head);
    if (head.magic != kMagic || head.entries == 0 || head.entries > kMaxEntries) return Next::kNonsense;
    const size_t entries_bytes = head.entries * entry_bytes_;
    if (staged() < sizeof head + entries_bytes) return Next::kBytes;
    const std::span<const std::byte> entries(staged_.data() + staged_begin_ + sizeof head, entries_bytes);
    staged_begin_ += sizeof head + entries_bytes;
    pieces_.clear();
    piece_ = 0;
    if (!handler_.takeEntries(entries, head.payload_bytes, pieces_)) return Next::kNonsense;
  }
}

// `staged`: where the bytes lie if they are not in place yet; they are taken out of the buffer then. nullptr: they are.
bool FrameReader::fillPieces(const std::byte* staged, uint64_t bytes) {
  const size_t first = piece_;
  while (piece_ < pieces_.size() && bytes > 0) {
    InPiece& piece = pieces_[piece_];
    const uint64_t taken = std::min(bytes, piece.length);
    if (staged != nullptr) {
      if (piece.data != nullptr && piece.mapped) {
        std::memcpy(piece.data, staged, taken);
      } else if (piece.data != nullptr && copyToUnknown(piece.data, staged, taken) < taken) {
        return false;
      }
      staged += taken;
      staged_begin_ += taken;
    }
    if (piece.data != nullptr) piece.data += taken;
    piece.length -= taken;
    bytes -= taken;
    if (piece.length == 0) ++piece_;
  }
  if (staged == nullptr) staged_end_ += bytes;
  if (piece_ > first) handler_.endPieces(piece_ - first);
  return true;
}

// How much to read into the buffer behind what is staged: what the frame's entries lack, but at least what goes ahead.
size_t FrameReader::stageNext() const {
  size_t wanted = ahead_bytes_;
  if (staged() >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, staged_.data() + staged_begin_, sizeof head);
    wanted = std::max(wanted, sizeof head + head.entries * entry_bytes_);
  }
  return wanted - staged();
}

// `bytes`: of all together. What is staged was gone through before, so while pieces are left the buffer is empty.
size_t FrameReader::gather(std::span<iovec> into, uint64_t& bytes) {
  size_t count = 0;
  for (size_t i = piece_; i < pieces_.size(); ++i) {
    const InPiece& piece = pieces_[i];
    if (piece.data == nullptr && dropped_ == nullptr) dropped_ = std::make_unique<std::byte[]>(kDropBytes);
    const uint64_t limit = std::min(piece.data == nullptr ? kDropBytes : piece.length, kBytesPerCall - bytes);
    const uint64_t taken = std::min(piece.length, limit);
    into[count++] = {piece.data == nullptr ? dropped_.get() : piece.data, taken};
    bytes += taken;
    if (taken < piece.length || bytes == kBytesPerCall || count + 1 == into.size()) {
      if (taken < piece.length || i + 1 < pieces_.size()) return count;
    }
  }
  if (staged_begin_ > 0) {
    std::memmove(staged_.data(), staged_.data() + staged_begin_, staged());
    staged_end_ -= std::exchange(staged_begin_, 0);
  }
  const size_t ahead = stageNext();
  into[count++] = {staged_.data() + staged_end_, ahead};
  bytes += ahead;
  return count;
}

FrameReader::Result FrameReader::read(Channel channel, uint64_t& bytes) {
  const auto result = [](Next next) {
    if (next == Next::kUnmapped) errno = EFAULT;
    return next == Next::kPause ? Result::kPaused : next == Next::kUnmapped ? Result::kFailed : Result::kNonsense;
  };
  // Only after a pause is anything to be done here.
  if (const Next next = advance(); next != Next::kBytes) return result(next);
  std::array<iovec, kPiecesPerCall> pieces;  // NOLINT(cppcoreguidelines-pro-type-member-init): gather fills it
  uint64_t wanted = 0;
  const size_t count = gather(pieces, wanted);
  const Received received = channel.receive(std::span(pieces).first(count), wanted);
  if (received.bytes == 0) return Result::kEnded;
  if (received.bytes < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Result::kBlocked : Result::kFailed;
  bytes += static_cast<uint64_t>(received.bytes);
  fillPieces(nullptr, static_cast<uint64_t>(received.bytes));
  if (const Next next = advance(); next != Next::kBytes) return result(next);
  // In the middle of a payload the rest is on its way.
  return received.drained && piece_ == pieces_.size() ? Result::kBlocked : Result::kMore;
}

}  // namespace tent::tcp
