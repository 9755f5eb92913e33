#include "transport/tcp/channel.h"

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>

#include "base/system_calls.h"
#include "transport/checked_copy.h"

namespace tent::tcp {
namespace {

constexpr size_t kRecordBytes = 16384;
// Then others on the loop have their turn.
constexpr uint64_t kEncryptedBytesPerCall = 4u << 20;

// A walk over pieces, a record at a time.
class Pieces {
 public:
  explicit Pieces(std::span<const iovec> pieces) : pieces_(pieces) { skipEmpty(); }

  bool done() const { return pieces_.empty(); }
  std::byte* data() const { return static_cast<std::byte*>(pieces_.front().iov_base) + at_; }
  uint64_t left() const { return pieces_.front().iov_len - at_; }
  void advance(uint64_t bytes) {
    at_ += bytes;
    skipEmpty();
  }
  uint64_t total(uint64_t limit) const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < pieces_.size() && bytes < limit; ++i) bytes += pieces_[i].iov_len - (i == 0 ? at_ : 0);
    return std::min(bytes, limit);
  }

 private:
  void skipEmpty() {
    while (!pieces_.empty() && at_ == pieces_.front().iov_len) {
      pieces_ = pieces_.subspan(1);
      at_ = 0;
    }
  }

  std::span<const iovec> pieces_;
  uint64_t at_ = 0;
};

// Up to `limit` bytes from where `pieces` stand; fewer where some is not mapped.
size_t gather(Pieces pieces, std::byte* into, size_t limit) {
  size_t have = 0;
  while (have < limit && !pieces.done()) {
    const uint64_t wanted = std::min<uint64_t>(limit - have, pieces.left());
    const uint64_t copied = copyFromUnknown(into + have, pieces.data(), wanted);
    have += copied;
    if (copied < wanted) break;
    pieces.advance(copied);
  }
  return have;
}

bool scatter(Pieces& pieces, const std::byte* from, size_t count) {
  while (count > 0) {
    const uint64_t wanted = std::min<uint64_t>(count, pieces.left());
    if (copyToUnknown(pieces.data(), from, wanted) < wanted) return false;
    pieces.advance(wanted);
    from += wanted;
    count -= wanted;
  }
  return true;
}

int errorOfStatus(TlsStatus status) {
  return status == TlsStatus::kWantRead || status == TlsStatus::kWantWrite ? EAGAIN : ECONNRESET;
}

}  // namespace

Encryption::Encryption(std::shared_ptr<const TlsContext> context, int socket)
    : context_(std::move(context)), session_(*context_, socket), outgoing_(kRecordBytes), incoming_(kRecordBytes) {}

ssize_t Encryption::send(std::span<const iovec> pieces) {
  Pieces at(pieces);
  ssize_t sent = 0;
  const std::lock_guard lock(mutex_);
  while (!at.done() && sent < static_cast<ssize_t>(kEncryptedBytesPerCall)) {
    const size_t wanted = at.total(kRecordBytes);
    // One that is not mapped ends the link, so nothing of its record need go.
    const size_t gathered = gather(at, outgoing_.data(), wanted);
    const int unmapped = gathered < wanted ? EFAULT : 0;
    const TlsMoved moved = unmapped != 0 ? TlsMoved{} : session_.write(outgoing_.data(), gathered);
    if (unmapped == 0 && moved.status == TlsStatus::kDone) {
      sent += static_cast<ssize_t>(moved.bytes);
      for (uint64_t left = moved.bytes; left > 0;) {
        const uint64_t step = std::min(left, at.left());
        at.advance(step);
        left -= step;
      }
      continue;
    }
    if (sent > 0) return sent;
    errno = unmapped != 0 ? unmapped : errorOfStatus(moved.status);
    return -1;
  }
  return sent;
}

Received Encryption::receive(std::span<const iovec> pieces) {
  Pieces at(pieces);
  Received received;
  const std::lock_guard lock(mutex_);
  while (!at.done() && received.bytes < static_cast<ssize_t>(kEncryptedBytesPerCall)) {
    const TlsMoved moved = session_.read(incoming_.data(), at.total(kRecordBytes));
    received.drained = moved.status != TlsStatus::kDone;
    if (moved.status == TlsStatus::kDone) {
      if (!scatter(at, incoming_.data(), moved.bytes)) return errno = EFAULT, Received{-1, false};
      received.bytes += static_cast<ssize_t>(moved.bytes);
      continue;
    }
    // What has come before an end or a failure is taken first; the next call finds it again.
    if (received.bytes > 0) {
      received.drained = moved.status == TlsStatus::kWantRead;
      return received;
    }
    if (moved.status == TlsStatus::kEnded) return {0, true};
    return errno = errorOfStatus(moved.status), Received{-1, true};
  }
  return received;
}

ssize_t Channel::send(std::span<iovec> pieces) const {
  if (encryption_ != nullptr) return encryption_->send(pieces);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  ssize_t sent = 0;
  do {
    sent = systemCalls().sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

Received Channel::receive(std::span<iovec> pieces, uint64_t wanted) const {
  if (encryption_ != nullptr) return encryption_->receive(pieces);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  ssize_t got = 0;
  do {
    got = systemCalls().recvmsg(socket_, &message, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return {got, got < 0 || static_cast<uint64_t>(got) < wanted};
}

}  // namespace tent::tcp
