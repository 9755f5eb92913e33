#include "transport/tcp/server_connection.h"

#include <cstring>

#include <asio/post.hpp>

namespace tent::tcp {
namespace {

// Answers that wait for the peer to read; it is not listened to while there are more.
constexpr size_t kMaxAnswers = 16;

}  // namespace

ServerConnection::ServerConnection(asio::ip::tcp::socket socket, RegionTable& regions,
                                   std::shared_ptr<Counters> counters,
                                   std::function<void(const std::shared_ptr<ServerConnection>&)> ended)
    : socket_(std::move(socket)),
      regions_(regions),
      counters_(std::move(counters)),
      ended_(std::move(ended)),
      reader_(*this, sizeof(RequestEntry)) {}

bool ServerConnection::takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes,
                                   std::vector<InPiece>& pieces) {
  frame_.clear();
  answer_ = writer_.take();
  uint64_t announced = 0;
  for (size_t at = 0; at < entries.size(); at += sizeof(RequestEntry)) {
    Pending pending;
    RequestEntry& request = pending.request;
    std::memcpy(&request, entries.data() + at, sizeof request);
    const bool write = request.operation == RequestEntry::kWrite;
    if ((!write && request.operation != RequestEntry::kRead) || request.length == 0 || request.length > kMaxLength) {
      return false;
    }
    auto use = regions_.use(request.address, request.length, write ? Access::kReadWrite : Access::kRead);
    auto* const memory = reinterpret_cast<std::byte*>(request.address);  // NOLINT(performance-no-int-to-ptr)
    if (!use) {
      pending.reason = use.error().reason;
    } else if (write) {
      uses_.push_back(*std::move(use));
    } else {
      answer_->payload.push_back({memory, request.length});
      answer_->payload_bytes += request.length;
      answer_->uses.push_back(*std::move(use));
    }
    if (write) {
      announced += request.length;
      pieces.push_back({pending.reason == Reason::kNone ? memory : nullptr, request.length});
    }
    frame_.push_back(pending);
  }
  return announced == payload_bytes;
}

bool ServerConnection::endFrame() {
  uses_.clear();
  answer_entries_.clear();
  for (const Pending& pending : frame_) {
    const bool read = pending.request.operation == RequestEntry::kRead;
    const bool done = pending.reason == Reason::kNone;
    const uint64_t length = pending.request.length;
    answer_entries_.push_back({pending.request.id, read && done ? length : 0, statusOf(pending.reason), 0});
    if (done) (read ? counters_->served_read_bytes : counters_->served_written_bytes).fetch_add(length);
  }
  writer_.add<ResponseEntry>(std::move(answer_), answer_entries_);
  return true;
}

bool ServerConnection::mayContinue() {
  paused_ = writer_.frames() >= kMaxAnswers;
  return !paused_;
}

void ServerConnection::onReadable() {
  if (!socket_.is_open()) return;
  uint64_t bytes = 0;
  const FrameReader::Result result = reader_.read(socket_.native_handle(), bytes);
  answer();
  switch (result) {
    case FrameReader::Result::kBlocked: return waitReadable();
    case FrameReader::Result::kPaused:
      if (!waiting_writable_) asio::post(socket_.get_executor(), [self = shared_from_this()] { self->onReadable(); });
      return;
    case FrameReader::Result::kYield:
      asio::post(socket_.get_executor(), [self = shared_from_this()] { self->onReadable(); });
      return;
    default: return end();
  }
}

void ServerConnection::waitReadable() {
  if (!socket_.is_open()) return;
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](const std::error_code& error) {
    if (!error) self->onReadable();
  });
}

void ServerConnection::answer() {
  if (waiting_writable_ || writer_.empty() || !socket_.is_open()) return;
  uint64_t bytes = 0;
  switch (writer_.send(socket_.native_handle(), bytes)) {
    case SendResult::kAllSent: return;
    case SendResult::kFailed: return end();
    case SendResult::kBlocked: break;
  }
  waiting_writable_ = true;
  socket_.async_wait(asio::ip::tcp::socket::wait_write, [self = shared_from_this()](const std::error_code& error) {
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
  const auto of_region = [&](const RegionTable::Use& use) { return use.regionId() == region; };
  return std::any_of(uses_.begin(), uses_.end(), of_region) || writer_.uses(region) ||
         (answer_ != nullptr && std::any_of(answer_->uses.begin(), answer_->uses.end(), of_region));
}

void ServerConnection::close() {
  std::error_code ignored;
  socket_.close(ignored);
  uses_.clear();
  answer_.reset();
  writer_.clear();
}

void ServerConnection::end() {
  if (!socket_.is_open()) return;
  const auto self = shared_from_this();
  close();
  ended_(self);
}

}  // namespace tent::tcp
