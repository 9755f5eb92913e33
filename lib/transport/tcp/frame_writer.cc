#include "transport/tcp/frame_writer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/system_calls.h"
#include "transport/tcp/limits.h"

namespace tent::tcp {
namespace {

constexpr size_t kPiecesPerCall = 512;
constexpr size_t kSpareFrames = 8;

}  // namespace

std::unique_ptr<OutFrame> FrameWriter::take() {
  if (spare_.empty()) return std::make_unique<OutFrame>();
  std::unique_ptr<OutFrame> frame = std::move(spare_.back());
  spare_.pop_back();
  return frame;
}

void FrameWriter::addBytes(std::unique_ptr<OutFrame> frame, std::span<const std::byte> entries, uint32_t count) {
  Head head;
  head.entries = count;
  head.payload_bytes = frame->payload_bytes;
  frame->head.resize(sizeof head + entries.size());
  std::memcpy(frame->head.data(), &head, sizeof head);
  std::memcpy(frame->head.data() + sizeof head, entries.data(), entries.size());
  frames_.push_back(std::move(frame));
}

size_t FrameWriter::gather(std::span<iovec> into) const {
  size_t count = 0;
  uint64_t bytes = 0;
  const auto add = [&](void* data, uint64_t length) {
    const uint64_t taken = std::min(length, kBytesPerCall - bytes);
    into[count++] = {data, taken};
    bytes += taken;
    return bytes < kBytesPerCall && count < into.size();
  };
  for (const auto& frame : frames_) {
    uint64_t skip = frame->sent;
    if (skip < frame->head.size()) {
      if (!add(frame->head.data() + skip, frame->head.size() - skip)) return count;
      skip = 0;
    } else {
      skip -= frame->head.size();
    }
    for (const iovec& piece : frame->payload) {
      if (skip >= piece.iov_len) {
        skip -= piece.iov_len;
        continue;
      }
      if (!add(static_cast<std::byte*>(piece.iov_base) + skip, piece.iov_len - skip)) return count;
      skip = 0;
    }
  }
  return count;
}

void FrameWriter::advance(uint64_t bytes) {
  while (bytes > 0) {
    OutFrame& frame = *frames_.front();
    const uint64_t taken = std::min(bytes, frame.size() - frame.sent);
    frame.sent += taken;
    bytes -= taken;
    if (frame.sent < frame.size()) return;
    std::unique_ptr<OutFrame> done = std::move(frames_.front());
    frames_.pop_front();
    if (spare_.size() >= kSpareFrames) continue;
    done->payload.clear();
    done->payload_bytes = 0;
    done->uses.clear();
    done->sent = 0;
    spare_.push_back(std::move(done));
  }
}

SendResult FrameWriter::send(Channel channel, uint64_t& sent_bytes) {
  std::array<iovec, kPiecesPerCall> pieces;  // NOLINT(cppcoreguidelines-pro-type-member-init): gather fills it
  while (!frames_.empty()) {
    const ssize_t sent = channel.send(std::span(pieces).first(gather(pieces)));
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? SendResult::kBlocked : SendResult::kFailed;
    sent_bytes += static_cast<uint64_t>(sent);
    advance(static_cast<uint64_t>(sent));
  }
  return SendResult::kAllSent;
}

bool FrameWriter::uses(uint64_t region) const {
  return std::any_of(frames_.begin(), frames_.end(), [&](const auto& frame) {
    return std::any_of(frame->uses.begin(), frame->uses.end(),
                       [&](const RegionTable::Use& use) { return use.regionId() == region; });
  });
}

}  // namespace tent::tcp
