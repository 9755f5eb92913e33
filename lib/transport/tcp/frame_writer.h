// Frames on their way out: heads and entries held here, payloads gathered from where they lie.
//
// Thread safety: none; a writer belongs to whoever sends at the moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <sys/uio.h>

#include "transport/regions.h"
#include "transport/tcp/channel.h"
#include "transport/tcp/wire.h"

namespace tent::tcp {

enum class SendResult : uint8_t { kAllSent, kBlocked, kFailed };  // kFailed: errno says why

// One frame. The payload's memory stays until the frame was sent; `uses` keep regions so.
struct OutFrame {
  std::vector<std::byte> head;  // and the entries
  std::vector<iovec> payload;
  uint64_t payload_bytes = 0;
  std::vector<RegionTable::Use> uses;
  uint64_t sent = 0;  // bytes of all of it

  uint64_t size() const { return head.size() + payload_bytes; }
};

class FrameWriter {
 public:
  size_t frames() const { return frames_.size(); }
  bool empty() const { return frames_.empty(); }

  // An empty frame to fill, perhaps one that was used before.
  std::unique_ptr<OutFrame> take();
  // `entries` of one kind; puts the head before them.
  template <typename Entry>
  void add(std::unique_ptr<OutFrame> frame, std::span<const Entry> entries) {
    addBytes(std::move(frame), std::as_bytes(entries), static_cast<uint32_t>(entries.size()));
  }

  // Sends what the socket takes. `sent_bytes` grows with it.
  SendResult send(Channel channel, uint64_t& sent_bytes);

  void clear() { frames_.clear(); }
  // Of the regions that queued frames read from.
  bool uses(uint64_t region) const;

 private:
  void addBytes(std::unique_ptr<OutFrame> frame, std::span<const std::byte> entries, uint32_t count);
  size_t gather(std::span<iovec> into) const;
  void advance(uint64_t bytes);

  std::deque<std::unique_ptr<OutFrame>> frames_;
  std::vector<std::unique_ptr<OutFrame>> spare_;
};

}  // namespace tent::tcp
