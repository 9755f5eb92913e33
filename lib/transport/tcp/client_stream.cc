#include "transport/tcp/client_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include <asio/post.hpp>

#include "base/system_error.h"
#include "transport/tcp/limits.h"

namespace tent::tcp {
namespace {

// Frames that are made ahead of the socket. What is not in one can still be taken back.
constexpr size_t kFramesAhead = 2;
// A frame holds so many bytes, or one transfer: what is behind it can still be taken back.
constexpr uint64_t kFrameBytes = 1u << 20;
constexpr uint64_t kTransferLoad = 4096;  // what a transfer costs beside its bytes, in bytes

constexpr uint64_t idOf(uint32_t slot, uint32_t generation) {
  return static_cast<uint64_t>(generation) << 32 | slot;
}

constexpr uint32_t slotOf(uint64_t id) {
  return static_cast<uint32_t>(id);
}

uint64_t loadOf(const Transfer& transfer) {
  return transfer.length + kTransferLoad;
}

// What a failed call says about the link.
Error errorOfFailure(int error) {
  if (error == EFAULT) {
    return errorOf(Reason::kIoError,
                   "the local memory of a transfer is not mapped, or not for this, which ended the connection");
  }
  return errorOfSystem(Reason::kPeerLost, "the connection broke", error);
}

}  // namespace

ClientStream::ClientStream(Owner& owner, Loop& loop, std::shared_ptr<Counters> counters)
    : owner_(owner),
      loop_(loop),
      stream_{Socket(loop.context()), nullptr},
      counters_(std::move(counters)),
      reader_(*this, sizeof(ResponseEntry), FrameReader::kStagedBytes) {}

// ---- sending

bool ClientStream::submit(std::span<const Transfer> transfers) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    queued_.insert(queued_.end(), transfers.begin(), transfers.end());
    for (const Transfer& transfer : transfers) load_.fetch_add(loadOf(transfer), std::memory_order_relaxed);
  }
  // What is submitted for each of several that are done travels together, once they have all been reported.
  if (!loop_.inLoop() || !reporting_) send();
  return true;
}

bool ClientStream::cancel(uint64_t token) {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(queued_.begin() + static_cast<ptrdiff_t>(queued_at_), queued_.end(),
                               [&](const Transfer& transfer) { return transfer.token == token; });
  if (it == queued_.end()) return false;
  load_.fetch_sub(loadOf(*it), std::memory_order_relaxed);
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
  flight.answered = false;
  ++flight.generation;
  return idOf(slot, flight.generation);
}

ClientStream::Flight* ClientStream::flightOfLocked(uint64_t id) {
  const uint32_t slot = slotOf(id);
  if (slot >= flights_.size()) return nullptr;
  Flight& flight = flights_[slot];
  return flight.used && idOf(slot, flight.generation) == id ? &flight : nullptr;
}

uint32_t ClientStream::regionOf(const Transfer& transfer) {
  return transfer.region == nullptr ? RequestEntry::kAnyRegion : static_cast<uint32_t>(transfer.region->id);
}

void ClientStream::fillFramesLocked() {
  while (!nothingQueuedLocked() && writer_.frames() < kFramesAhead) {
    std::unique_ptr<OutFrame> frame = writer_.take();
    entries_.clear();
    uint64_t bytes = 0;  // that will travel, either way
    while (!nothingQueuedLocked() && entries_.size() < kMaxEntries) {
      const Transfer& transfer = queued_[queued_at_];
      if (!entries_.empty() && bytes + transfer.length > kFrameBytes) break;
      ++queued_at_;
      bytes += transfer.length;
      const bool write = transfer.direction == Direction::kWrite;
      entries_.push_back({startFlightLocked(transfer), transfer.remote_address, transfer.length,
                          write ? RequestEntry::kWrite : RequestEntry::kRead, regionOf(transfer)});
      if (!write) continue;
      frame->payload.push_back({transfer.local, transfer.length});
      frame->payload_bytes += transfer.length;
    }
    uint64_t payload = framed_ + sizeof(Head) + entries_.size() * sizeof(RequestEntry);
    for (const RequestEntry& entry : entries_) {
      Flight& flight = flights_[slotOf(entry.id)];
      const bool write = entry.operation == RequestEntry::kWrite;
      flight.begin = write ? payload : framed_;
      if (write) payload += entry.length;
      flight.end = payload;
    }
    framed_ = payload;
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
  int failure = 0;
  bool finishes = false;
  while (!stopped_) {
    fillFramesLocked();
    if (writer_.empty()) break;
    lock.unlock();
    uint64_t bytes = 0;
    const SendResult result = writer_.send(*channel_, bytes);
    const int error = errno;
    moved_.fetch_add(bytes, std::memory_order_relaxed);
    lock.lock();
    sent_ += bytes;
    finishes = finishes || !deferred_.empty();
    blocked_ = result == SendResult::kBlocked;
    if (result == SendResult::kFailed) failure = error;
    if (result != SendResult::kAllSent) break;
  }
  sending_ = false;
  send_ended_.notify_all();
  const bool wait = blocked_ && !stopped_;
  lock.unlock();
  if (finishes) finishDeferred();
  if (wait) waitWritable();
  if (failure != 0) owner_.streamFailed(errorOfFailure(failure));
}

void ClientStream::finishDeferred() {
  asio::post(stream_.socket.get_executor(), [this, alive = owner_.keepAlive()] {
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(deferred_, [&](uint32_t slot) {
        const bool sent = isSentLocked(flights_[slot]);
        if (sent) finishLocked(slot);
        return sent;
      });
    }
    report();
  });
}

void ClientStream::waitWritable() {
  asio::post(stream_.socket.get_executor(), [this, alive = owner_.keepAlive()] {
    if (!stream_.socket.is_open()) return;
    stream_.socket.async_wait(Socket::wait_write, [this, alive](const std::error_code& error) {
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

bool ClientStream::isAnswerLocked(const ResponseEntry& response) {
  Flight* const flight = flightOfLocked(response.id);
  const std::optional<Reason> reason = reasonOfStatus(response.status);
  // Twice would give one memory two payloads.
  if (flight == nullptr || flight->answered || !reason) return false;
  const bool write = flight->transfer.direction == Direction::kWrite;
  const bool has_payload = !write && *reason == Reason::kNone;
  if (response.payload_bytes != (has_payload ? flight->transfer.length : 0)) return false;
  if (write && !isSentLocked(*flight) && !sending_) return false;
  flight->answered = true;
  flight->answer = *reason;
  return true;
}

bool ClientStream::takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes,
                               std::vector<InPiece>& pieces) {
  incoming_.clear();
  incoming_at_ = 0;
  uint64_t announced = 0;
  const std::lock_guard lock(mutex_);
  for (size_t at = 0; at < entries.size(); at += sizeof(ResponseEntry)) {
    ResponseEntry response;
    std::memcpy(&response, entries.data() + at, sizeof response);
    if (!isAnswerLocked(response)) return false;
    announced += response.payload_bytes;
    const uint32_t slot = slotOf(response.id);
    const Flight& flight = flights_[slot];
    if (response.payload_bytes > 0) {
      pieces.push_back({flight.transfer.local, flight.transfer.length, flight.transfer.local_mapped});
      incoming_.push_back(slot);
    } else if (flight.transfer.direction == Direction::kWrite && !isSentLocked(flight)) {
      deferred_.push_back(slot);
    } else {
      finishLocked(slot);
    }
  }
  return announced == payload_bytes;
}

void ClientStream::endPieces(size_t count) {
  const std::lock_guard lock(mutex_);
  for (const size_t end = incoming_at_ + count; incoming_at_ < end; ++incoming_at_) {
    finishLocked(incoming_[incoming_at_]);
  }
}

void ClientStream::finishLocked(uint32_t slot) {
  Flight& flight = flights_[slot];
  Completion& completion = completions_.emplace_back();
  completion.token = flight.transfer.token;
  completion.reason = flight.answer;
  if (flight.answer == Reason::kNone) {
    const bool read = flight.transfer.direction == Direction::kRead;
    (read ? counters_->read_bytes : counters_->written_bytes).fetch_add(flight.transfer.length);
  } else {
    completion.detail = describeRefusal(flight.answer);
  }
  load_.fetch_sub(loadOf(flight.transfer), std::memory_order_relaxed);
  flight.used = false;
  free_flights_.push_back(slot);
}

void ClientStream::report() {
  if (completions_.empty()) return;
  reporting_ = true;
  owner_.streamCompleted(completions_);
  reporting_ = false;
  completions_.clear();
  send();
}

void ClientStream::start(Stream stream) {
  {
    const std::lock_guard lock(mutex_);
    stream_ = std::move(stream);
    channel_ = stream_.channel();
    started_ = true;
  }
  waitReadable();
  send();
}

void ClientStream::waitReadable() {
  if (!stream_.socket.is_open()) return;
  stream_.socket.async_wait(Socket::wait_read, [this, alive = owner_.keepAlive()](const std::error_code& error) {
    if (!error) receive();
  });
}

void ClientStream::receive() {
  for (int turn = 0; turn < kReadTurns; ++turn) {
    if (!stream_.socket.is_open()) return;
    uint64_t bytes = 0;
    const FrameReader::Result result = reader_.read(*channel_, bytes);
    const int error = errno;
    moved_.fetch_add(bytes, std::memory_order_relaxed);
    report();
    switch (result) {
      case FrameReader::Result::kMore:
      case FrameReader::Result::kPaused: break;  // it never is
      case FrameReader::Result::kBlocked: return waitReadable();
      case FrameReader::Result::kEnded:
        return owner_.streamFailed(errorOf(Reason::kPeerLost, "the peer closed the connection: has it ended?"));
      case FrameReader::Result::kFailed: return owner_.streamFailed(errorOfFailure(error));
      case FrameReader::Result::kNonsense:
        return owner_.streamFailed(errorOf(Reason::kIoError, "the peer's answer makes no sense"));
    }
  }
  asio::post(stream_.socket.get_executor(), [this, alive = owner_.keepAlive()] { receive(); });
}

// ---- the end

void ClientStream::stop(const Error& why, std::vector<Completion>& completions) {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  std::error_code ignored;
  // A thread that is sending does not block; it is only waited for so that it is through with the transfers' memory.
  stream_.socket.shutdown(Socket::shutdown_both, ignored);
  send_ended_.wait(lock, [this] { return !sending_; });
  stream_.socket.close(ignored);
  // What was answered and has gone is done, although nobody came to say so.
  for (const uint32_t slot : deferred_) {
    if (isSentLocked(flights_[slot])) finishLocked(slot);
  }
  deferred_.clear();
  completions.insert(completions.end(), std::make_move_iterator(completions_.begin()),
                     std::make_move_iterator(completions_.end()));
  completions_.clear();
  const auto give_back = [&](const Transfer& transfer, Aftermath aftermath) {
    completions.push_back({transfer.token, why.reason, aftermath, why.detail});
  };
  for (Flight& flight : flights_) {
    if (!std::exchange(flight.used, false)) continue;
    const bool read = flight.transfer.direction == Direction::kRead;
    const Aftermath begun = read ? Aftermath::kSettled : Aftermath::kUnsettled;
    give_back(flight.transfer, sent_ > flight.begin ? begun : Aftermath::kUntouched);
  }
  for (size_t i = queued_at_; i < queued_.size(); ++i) give_back(queued_[i], Aftermath::kUntouched);
  queued_.clear();
  queued_at_ = 0;
  load_.store(0, std::memory_order_relaxed);
  writer_.clear();
}

}  // namespace tent::tcp
