#include "transport/tcp/client_link.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <asio/post.hpp>

#include "base/clock.h"
#include "base/units.h"
#include "transport/mapped_memory.h"

namespace tent::tcp {
namespace {

bool isUnmapped(const Transfer& transfer) {
  return !transfer.local_mapped && !isMapped(transfer.local, transfer.length);
}

}  // namespace

LinkState::LinkState(Loop& loop, const TcpOptions& options, const std::shared_ptr<Counters>& counters,
                     std::shared_ptr<LinkObserver> observer)
    : loop_(loop), options_(options), observer_(std::move(observer)), late_(observer_), stall_timer_(loop.context()) {
  for (uint32_t i = 0; i < options_.streams; ++i) {
    streams_.push_back(std::make_unique<ClientStream>(*this, loop, counters));
  }
}

// ---- opening

void LinkState::open(const Answer& answer, const asio::ip::address& host) {
  where_ = host.is_v6() ? fmt::format("[{}]:{}", host.to_string(), answer.port)
                        : fmt::format("{}:{}", host.to_string(), answer.port);
  auto connector = std::make_shared<ClientConnector>(loop_, options_, answer, host, where_);
  asio::post(loop_.context(), [self = shared_from_this(), connector = std::move(connector)] {
    if (self->ended()) return;
    self->connector_ = connector;
    connector->start([self](tl::expected<std::vector<Stream>, Error> streams) {
      self->connector_.reset();
      streams ? self->connected(*std::move(streams)) : self->end(streams.error());
    });
  });
}

void LinkState::connected(std::vector<Stream> streams) {
  if (ended()) return;
  for (size_t i = 0; i < streams_.size(); ++i) streams_[i]->start(std::move(streams[i]));
  std::vector<Transfer> waiting;
  {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::kReady;
    waiting.swap(waiting_);
    changed_.notify_all();
  }
  take(waiting);
}

Error LinkState::waitReady(uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  const bool known = changed_.wait_for(lock, boundedWait(timeout_ns), [this] { return phase_ != Phase::kOpening; });
  if (phase_ == Phase::kEnded) return why_;
  return known ? Error{} : errorOf(Reason::kTimeout, "the connection to " + where_ + " is still being opened");
}

// ---- transfers

void LinkState::submit(std::span<const Transfer> transfers) {
  unreported_.fetch_add(transfers.size());
  if (std::none_of(transfers.begin(), transfers.end(), isUnmapped)) return take(transfers);
  // Memory that is not mapped would end the link, and with it all that is under way.
  std::vector<Transfer> mapped;
  std::vector<Completion> completions;
  for (const Transfer& transfer : transfers) {
    if (isUnmapped(transfer)) {
      completions.push_back(
          {transfer.token, Reason::kIoError, Aftermath::kUntouched, "the local memory of the transfer is not mapped"});
    } else {
      mapped.push_back(transfer);
    }
  }
  report(completions);
  take(mapped);
}

void LinkState::take(std::span<const Transfer> transfers) {
  if (transfers.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kOpening) {
      waiting_.insert(waiting_.end(), transfers.begin(), transfers.end());
      return;
    }
  }
  if (!watched_.load() && !watched_.exchange(true)) watchForStalls();
  // In runs, so that what goes together travels in one frame.
  const size_t run = std::max<size_t>(1, (transfers.size() + streams_.size() - 1) / streams_.size());
  for (size_t at = 0; at < transfers.size(); at += run) {
    const std::span<const Transfer> share = transfers.subspan(at, std::min(run, transfers.size() - at));
    if (!leastLoaded().submit(share)) refuse(share);
  }
}

ClientStream& LinkState::leastLoaded() {
  const auto less = [](const auto& a, const auto& b) { return a->load() < b->load(); };
  return **std::min_element(streams_.begin(), streams_.end(), less);
}

// What came after the end.
void LinkState::refuse(std::span<const Transfer> transfers) {
  std::vector<Completion> completions;
  {
    const std::lock_guard lock(mutex_);
    for (const Transfer& transfer : transfers) {
      completions.push_back({transfer.token, why_.reason, Aftermath::kUntouched, why_.detail});
    }
  }
  report(completions);
}

bool LinkState::cancel(uint64_t token) {
  bool taken = false;
  {
    const std::lock_guard lock(mutex_);
    taken = std::erase_if(waiting_, [&](const Transfer& transfer) { return transfer.token == token; }) > 0;
  }
  for (const auto& stream : streams_) taken = taken || stream->cancel(token);
  if (!taken) return false;
  std::vector<Completion> completions{{token, Reason::kCanceled, Aftermath::kUntouched, ""}};
  report(completions);
  return true;
}

void LinkState::report(std::vector<Completion>& completions) {
  if (completions.empty()) return;
  std::shared_ptr<LinkObserver> observer;
  {
    const std::lock_guard lock(mutex_);
    observer = observer_ != nullptr ? observer_ : late_.lock();
  }
  for (Completion& completion : completions) {
    if (observer != nullptr) observer->completed(std::move(completion));
  }
  reported(completions.size());
}

// Whoever reports the last one of a link that has ended tells the end, so that nothing is reported after it.
void LinkState::reported(uint64_t count) {
  if (unreported_.fetch_sub(count, std::memory_order_acq_rel) != count) return;
  std::shared_ptr<LinkObserver> observer;
  {
    const std::lock_guard lock(mutex_);
    observer = std::exchange(observer_, nullptr);
  }
  if (observer != nullptr) observer->closed(why_);
}

void LinkState::streamCompleted(std::vector<Completion>& completions) {
  report(completions);
}

// ---- the end

void LinkState::streamFailed(const Error& why) {
  asio::post(loop_.context(), [self = shared_from_this(), error = errorOf(why.reason, where_ + ": " + why.detail)] {
    self->end(error);
  });
}

void LinkState::close(const Error& why) {
  const auto self = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kEnded) return;
  }
  // On the loop's thread it may be called from within a report, others of which come first.
  if (loop_.inLoop()) return asio::post(loop_.context(), [self, why] { self->end(why); });
  loop_.run([&] { self->end(why); });
}

// On the loop's thread: nothing is received while it runs.
void LinkState::end(const Error& why) {
  if (ended_.exchange(true, std::memory_order_acq_rel)) return;
  if (const auto connector = std::exchange(connector_, nullptr)) connector->stop();
  stall_timer_.cancel();
  std::vector<Completion> completions;
  {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::kEnded;
    why_ = why;
    for (const Transfer& transfer : waiting_) {
      completions.push_back({transfer.token, why.reason, Aftermath::kUntouched, why.detail});
    }
    waiting_.clear();
    changed_.notify_all();
  }
  for (const auto& stream : streams_) stream->stop(why, completions);
  report(completions);
  reported(1);
}

// ---- stalls

void LinkState::watchForStalls() {
  asio::post(loop_.context(), [self = shared_from_this()] {
    self->still_since_ns_ = monotonicNowNs();
    self->armStallTimer();
  });
}

// Runs while there is something in flight; what comes after it has stopped starts it again.
void LinkState::armStallTimer() {
  if (ended()) return;
  stall_timer_.expires_after(std::chrono::nanoseconds(options_.stall_timeout_ns / 4 + 1));
  stall_timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (error || self->ended()) return;
    if (self->unreported_.load() == 1) {
      self->watched_.store(false);
      // A submit between the two lines above took the timer for running.
      if (self->unreported_.load() == 1 || self->watched_.exchange(true)) return;
    }
    uint64_t moved = 0;
    for (const auto& stream : self->streams_) moved += stream->moved();
    const uint64_t now_ns = monotonicNowNs();
    if (moved != std::exchange(self->moved_before_, moved)) self->still_since_ns_ = now_ns;
    if (now_ns - self->still_since_ns_ < self->options_.stall_timeout_ns) return self->armStallTimer();
    self->end(errorOf(Reason::kPeerLost, fmt::format("no byte has moved to or from {} for {}: is it stopped?",
                                                     self->where_, formatDuration(self->options_.stall_timeout_ns))));
  });
}

TcpLink::~TcpLink() {
  state_->close(errorOf(Reason::kCanceled, "the link was closed"));
}

}  // namespace tent::tcp
