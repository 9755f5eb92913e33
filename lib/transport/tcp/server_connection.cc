#include "transport/tcp/server_connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <asio/post.hpp>

#include "transport/tcp/limits.h"

namespace tent::tcp {
namespace {

// Answers that wait for the peer to read; it is not listened to while there are more.
constexpr size_t kMaxAnswers = 64;

}  // namespace

ServerConnection::ServerConnection(Stream stream, RegionTable& regions, std::shared_ptr<Counters> counters,
                                   std::function<void(const std::shared_ptr<ServerConnection>&)> ended)
    : stream_(std::move(stream)),
      regions_(regions),
      counters_(std::move(counters)),
      ended_(std::move(ended)),
      reader_(*this, sizeof(RequestEntry), sizeof(Head) + sizeof(RequestEntry)) {}

// ---- what the peer asks for

bool ServerConnection::takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes,
                                   std::vector<InPiece>& pieces) {
  incoming_.clear();
  incoming_at_ = 0;
  uint64_t announced = 0;
  for (size_t at = 0; at < entries.size(); at += sizeof(RequestEntry)) {
    RequestEntry request;
    std::memcpy(&request, entries.data() + at, sizeof request);
    const bool write = request.operation == RequestEntry::kWrite;
    if ((!write && request.operation != RequestEntry::kRead) || request.length == 0 || request.length > kMaxLength) {
      return false;
    }
    if (write) {
      announced += request.length;
      takeWrite(request, pieces);
    } else {
      takeRead(request);
    }
  }
  return announced == payload_bytes;
}

void ServerConnection::takeWrite(const RequestEntry& request, std::vector<InPiece>& pieces) {
  Incoming& incoming = incoming_.emplace_back(Incoming{request.id, request.length, Reason::kNone, std::nullopt});
  auto use = regions_.use(request.address, request.length, Access::kReadWrite, request.region);
  if (!use) {
    incoming.reason = use.error().reason;
    pieces.push_back({nullptr, request.length});
    return;
  }
  incoming.use.emplace(*std::move(use));
  auto* const memory = reinterpret_cast<std::byte*>(request.address);  // NOLINT(performance-no-int-to-ptr)
  pieces.push_back({memory, request.length});
}

void ServerConnection::takeRead(const RequestEntry& request) {
  auto use = regions_.use(request.address, request.length, Access::kRead, request.region);
  if (!use) return addAnswer({request.id, 0, statusOf(use.error().reason), 0});
  addAnswer({request.id, request.length, statusOf(Reason::kNone), 0});
  auto* const memory = reinterpret_cast<std::byte*>(request.address);  // NOLINT(performance-no-int-to-ptr)
  answer_->payload.push_back({memory, request.length});
  answer_->payload_bytes += request.length;
  answer_->uses.push_back(*std::move(use));
  counters_->served_read_bytes.fetch_add(request.length);
}

void ServerConnection::endPieces(size_t count) {
  for (const size_t end = incoming_at_ + count; incoming_at_ < end; ++incoming_at_) {
    Incoming& incoming = incoming_[incoming_at_];
    incoming.use.reset();
    if (incoming.reason == Reason::kNone) counters_->served_written_bytes.fetch_add(incoming.length);
    addAnswer({incoming.id, 0, statusOf(incoming.reason), 0});
  }
}

bool ServerConnection::mayContinue() {
  paused_ = writer_.frames() >= kMaxAnswers;
  return !paused_;
}

// ---- answers

void ServerConnection::addAnswer(const ResponseEntry& entry) {
  if (answer_entries_.size() == kMaxEntries) sealAnswer();
  if (answer_ == nullptr) answer_ = writer_.take();
  answer_entries_.push_back(entry);
}

void ServerConnection::sealAnswer() {
  if (answer_ == nullptr) return;
  writer_.add<ResponseEntry>(std::move(answer_), answer_entries_);
  answer_entries_.clear();
}

void ServerConnection::onReadable() {
  for (int turn = 0; turn < kReadTurns; ++turn) {
    if (!stream_.socket.is_open()) return;
    uint64_t bytes = 0;
    const FrameReader::Result result = reader_.read(stream_.channel(), bytes);
    sealAnswer();
    answer();
    switch (result) {
      case FrameReader::Result::kMore: break;
      case FrameReader::Result::kBlocked: return waitReadable();
      case FrameReader::Result::kPaused:
        if (waiting_writable_) return;
        break;  // all was sent meanwhile
      default: return end();
    }
  }
  // Others on the loop have their turn.
  asio::post(stream_.socket.get_executor(), [self = shared_from_this()] { self->onReadable(); });
}

void ServerConnection::waitReadable() {
  if (!stream_.socket.is_open()) return;
  stream_.socket.async_wait(asio::ip::tcp::socket::wait_read,
                            [self = shared_from_this()](const std::error_code& error) {
                              if (!error) self->onReadable();
                            });
}

void ServerConnection::answer() {
  if (waiting_writable_ || writer_.empty() || !stream_.socket.is_open()) return;
  uint64_t bytes = 0;
  switch (writer_.send(stream_.channel(), bytes)) {
    case SendResult::kAllSent: return;
    case SendResult::kFailed: return end();
    case SendResult::kBlocked: break;
  }
  waiting_writable_ = true;
  stream_.socket.async_wait(asio::ip::tcp::socket::wait_write,
                            [self = shared_from_this()](const std::error_code& error) {
                              self->waiting_writable_ = false;
                              if (!error) self->onWritable();
                            });
}

void ServerConnection::onWritable() {
  answer();
  // What was paused for want of room goes on.
  if (paused_ && writer_.frames() < kMaxAnswers) {
    paused_ = false;
    onReadable();
  }
}

bool ServerConnection::uses(uint64_t region) const {
  // Between two turns of the loop no answer is being put together: all that is used is coming in or waits to be sent.
  return writer_.uses(region) || std::any_of(incoming_.begin(), incoming_.end(), [&](const Incoming& incoming) {
           return incoming.use && incoming.use->regionId() == region;
         });
}

void ServerConnection::close() {
  std::error_code ignored;
  stream_.socket.close(ignored);
  incoming_.clear();
  answer_.reset();
  answer_entries_.clear();
  writer_.clear();
}

void ServerConnection::end() {
  if (!stream_.socket.is_open()) return;
  const auto self = shared_from_this();
  close();
  ended_(self);
}

}  // namespace tent::tcp
