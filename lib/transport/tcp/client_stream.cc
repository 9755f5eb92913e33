#include "transport/tcp/client_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <asio/post.hpp>

namespace tent::tcp {
namespace {

// Frames that are made ahead of the socket. What is not in one can still be taken back.
constexpr size_t kFramesAhead = 2;
// A frame is closed at so many bytes: what is behind it should not wait for a longer one.
constexpr uint64_t kFrameBytes = 8u << 20;

constexpr uint64_t idOf(uint32_t slot, uint32_t generation) {
  return static_cast<uint64_t>(generation) << 32 | slot;
}

}  // namespace

ClientStream::ClientStream(Owner& owner, asio::ip::tcp::socket socket, std::shared_ptr<Counters> counters)
    : owner_(owner),
      socket_(std::move(socket)),
      counters_(std::move(counters)),
      reader_(*this, sizeof(ResponseEntry)) {}

// ---- sending

bool ClientStream::submit(std::span<const Transfer> transfers) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    queued_.insert(queued_.end(), transfers.begin(), transfers.end());
  }
  send();
  return true;
}

bool ClientStream::cancel(uint64_t token) {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(queued_.begin() + static_cast<ptrdiff_t>(queued_at_), queued_.end(),
                               [&](const Transfer& transfer) { return transfer.token == token; });
  if (it == queued_.end()) return false;
  queued_.erase(it);
  return true;
}

uint64_t ClientStream::startFlightLocked(const Transfer& transfer) {
  if (free_flights_.empty()) {
    free_flights_.push_back(static_cast<uint32_t>(flights_.size()));
    flights_.emplace_back();
  }
  const uint32_t slot = free_flights_.back();
  free_flights_.pop_back();
  Flight& flight = flights_[slot];
  flight.transfer = transfer;
  flight.used = true;
  ++flight.generation;
  return idOf(slot, flight.generation);
}

ClientStream::Flight* ClientStream::flightOfLocked(uint64_t id) {
  const auto slot = static_cast<uint32_t>(id);
  if (slot >= flights_.size()) return nullptr;
  Flight& flight = flights_[slot];
  return flight.used && idOf(slot, flight.generation) == id ? &flight : nullptr;
}

void ClientStream::fillFramesLocked() {
  while (!nothingQueuedLocked() && writer_.frames() < kFramesAhead) {
    std::unique_ptr<OutFrame> frame = writer_.take();
    entries_.clear();
    uint64_t bytes = 0;  // that will travel, either way
    while (!nothingQueuedLocked() && entries_.size() < kMaxEntries && bytes < kFrameBytes) {
      const Transfer& transfer = queued_[queued_at_++];
      const bool write = transfer.direction == Direction::kWrite;
      entries_.push_back({startFlightLocked(transfer), transfer.remote_address, transfer.length,
                          write ? RequestEntry::kWrite : RequestEntry::kRead, 0});
      bytes += transfer.length;
      if (write) {
        frame->payload.push_back({transfer.local, transfer.length});
        frame->payload_bytes += transfer.length;
      }
    }
    writer_.add<RequestEntry>(std::move(frame), entries_);
  }
  if (!nothingQueuedLocked()) return;
  queued_.clear();
  queued_at_ = 0;
}

void ClientStream::send() {
  std::unique_lock lock(mutex_);
  if (!started_ || stopped_ || sending_ || blocked_) return;
  sending_ = true;
  std::string failure;
  while (!stopped_) {
    fillFramesLocked();
    if (writer_.empty()) break;
    lock.unlock();
    uint64_t bytes = 0;
    const SendResult result = writer_.send(fd_, bytes);
    const int error = errno;
    moved_.fetch_add(bytes, std::memory_order_relaxed);
    lock.lock();
    if (result == SendResult::kBlocked) {
      blocked_ = true;
      break;
    }
    if (result == SendResult::kFailed) {
      failure = std::generic_category().message(error);
      break;
    }
  }
  sending_ = false;
  send_ended_.notify_all();
  const bool wait = blocked_ && !stopped_;
  lock.unlock();
  if (wait) waitWritable();
  if (!failure.empty()) owner_.streamFailed(Reason::kPeerLost, "the connection to the peer broke: " + failure);
}

void ClientStream::waitWritable() {
  asio::post(socket_.get_executor(), [this, alive = owner_.keepAlive()] {
    if (!socket_.is_open()) return;
    socket_.async_wait(asio::ip::tcp::socket::wait_write, [this, alive](const std::error_code& error) {
      if (error) return;
      {
        const std::lock_guard lock(mutex_);
        blocked_ = false;
      }
      send();
    });
  });
}

// ---- receiving

bool ClientStream::takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes,
                               std::vector<InPiece>& pieces) {
  answered_.clear();
  uint64_t announced = 0;
  const std::lock_guard lock(mutex_);
  for (size_t at = 0; at < entries.size(); at += sizeof(ResponseEntry)) {
    ResponseEntry response;
    std::memcpy(&response, entries.data() + at, sizeof response);
    const Flight* flight = flightOfLocked(response.id);
    const std::optional<Reason> reason = reasonOfStatus(response.status);
    if (flight == nullptr || !reason) return false;
    const auto slot = static_cast<uint32_t>(response.id);
    // Twice in one frame would give one memory two payloads.
    if (std::any_of(answered_.begin(), answered_.end(), [&](const Answered& a) { return a.slot == slot; }))
      return false;
    const bool has_payload = flight->transfer.direction == Direction::kRead && *reason == Reason::kNone;
    if (response.payload_bytes != (has_payload ? flight->transfer.length : 0)) return false;
    if (has_payload) pieces.push_back({flight->transfer.local, flight->transfer.length});
    announced += response.payload_bytes;
    answered_.push_back({slot, *reason});
  }
  return announced == payload_bytes;
}

bool ClientStream::endFrame() {
  const std::lock_guard lock(mutex_);
  for (const Answered& answered : answered_) {
    Flight& flight = flights_[answered.slot];
    Completion& completion = completions_.emplace_back();
    completion.token = flight.transfer.token;
    completion.reason = answered.reason;
    if (answered.reason == Reason::kNone) {
      const bool read = flight.transfer.direction == Direction::kRead;
      (read ? counters_->read_bytes : counters_->written_bytes).fetch_add(flight.transfer.length);
    } else {
      completion.detail = describeRefusal(answered.reason);
    }
    flight.used = false;
    free_flights_.push_back(answered.slot);
  }
  answered_.clear();
  return true;
}

void ClientStream::start() {
  {
    const std::lock_guard lock(mutex_);
    fd_ = socket_.native_handle();
    started_ = true;
  }
  waitReadable();
  send();
}

void ClientStream::waitReadable() {
  if (!socket_.is_open()) return;
  socket_.async_wait(asio::ip::tcp::socket::wait_read,
                     [this, alive = owner_.keepAlive()](const std::error_code& error) {
                       if (!error) receive();
                     });
}

void ClientStream::receive() {
  if (!socket_.is_open()) return;
  uint64_t bytes = 0;
  const FrameReader::Result result = reader_.read(fd_, bytes);
  const int error = errno;
  moved_.fetch_add(bytes, std::memory_order_relaxed);
  const auto alive = owner_.keepAlive();
  if (!completions_.empty()) owner_.streamCompleted(completions_);
  completions_.clear();
  switch (result) {
    case FrameReader::Result::kBlocked: return waitReadable();
    case FrameReader::Result::kPaused:
    case FrameReader::Result::kYield: return asio::post(socket_.get_executor(), [this, alive] { receive(); });
    case FrameReader::Result::kEnded:
      return owner_.streamFailed(Reason::kPeerLost, "the peer closed the connection: has it ended?");
    case FrameReader::Result::kFailed:
      return owner_.streamFailed(Reason::kPeerLost,
                                 "the connection to the peer broke: " + std::generic_category().message(error));
    case FrameReader::Result::kNonsense:
      return owner_.streamFailed(Reason::kIoError, "the peer's answer makes no sense");
  }
}

// ---- the end

void ClientStream::stop(const Error& why, std::vector<Completion>& completions) {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  std::error_code ignored;
  // A thread that is sending does not block; it is only waited for so that it is through with the transfers' memory.
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  send_ended_.wait(lock, [this] { return !sending_; });
  socket_.close(ignored);
  const auto give_back = [&](const Transfer& transfer, Aftermath aftermath) {
    completions.push_back({transfer.token, why.reason, aftermath, why.detail});
  };
  for (Flight& flight : flights_) {
    if (!std::exchange(flight.used, false)) continue;
    give_back(flight.transfer,
              flight.transfer.direction == Direction::kRead ? Aftermath::kSettled : Aftermath::kUnsettled);
  }
  for (size_t i = queued_at_; i < queued_.size(); ++i) give_back(queued_[i], Aftermath::kUntouched);
  queued_.clear();
  queued_at_ = 0;
  writer_.clear();
}

}  // namespace tent::tcp
