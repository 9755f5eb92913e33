#include "transport/tcp/client_link.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <asio/co_spawn.hpp>
#include <asio/connect.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include "base/clock.h"
#include "base/units.h"

namespace tent::tcp {
namespace {

using asio::ip::tcp;

constexpr uint64_t kLongestWaitNs = 365ull * 24 * 3600 * 1'000'000'000;

Error errorOf(Reason reason, std::string detail) {
  return {reason, Field::kNone, -1, {}, std::move(detail)};
}

}  // namespace

LinkState::LinkState(Loop& loop, const TcpOptions& options, const std::shared_ptr<Counters>& counters,
                     std::shared_ptr<LinkObserver> observer)
    : loop_(loop),
      options_(options),
      observer_(std::move(observer)),
      late_(observer_),
      connect_timer_(loop.context()),
      stall_timer_(loop.context()) {
  for (uint32_t i = 0; i < options_.streams; ++i) {
    streams_.push_back(std::make_unique<ClientStream>(*this, tcp::socket(loop.context()), counters));
  }
}

// ---- opening

void LinkState::open(const Answer& answer, std::string host) {
  const bool is_v6 = host.find(':') != std::string::npos;
  where_ = fmt::format("{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", answer.port);
  asio::post(loop_.context(), [self = shared_from_this(), answer = Answer(answer), host = std::move(host)]() mutable {
    self->connect_timer_.expires_after(std::chrono::nanoseconds(self->options_.connect_timeout_ns));
    self->connect_timer_.async_wait([self](const std::error_code& error) {
      if (error || self->ended()) return;
      self->end(errorOf(Reason::kPeerUnreachable,
                        fmt::format("no connection to {} within {}: is the peer stopped, or behind a firewall?",
                                    self->where_, formatDuration(self->options_.connect_timeout_ns))));
    });
    asio::co_spawn(self->loop_.context(), self->connectStreams(std::move(answer), std::move(host)), asio::detached);
  });
}

asio::awaitable<void> LinkState::connectStreams(Answer answer, std::string host) {
  const auto self = shared_from_this();
  try {
    tcp::resolver resolver(loop_.context());
    const auto endpoints = co_await resolver.async_resolve(host, std::to_string(answer.port), asio::use_awaitable);
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (ended()) co_return;
      tcp::socket& socket = streams_[i]->socket();
      co_await asio::async_connect(socket, endpoints, asio::use_awaitable);
      socket.set_option(tcp::no_delay(true));
      socket.set_option(asio::socket_base::keep_alive(true));
      Hello hello;
      hello.ticket = answer.tickets[i];
      co_await asio::async_write(socket, asio::buffer(&hello, sizeof hello), asio::use_awaitable);
      Welcome welcome;
      co_await asio::async_read(socket, asio::buffer(&welcome, sizeof welcome), asio::use_awaitable);
      if (welcome.magic != kMagic || welcome.version != kVersion) {
        end(errorOf(Reason::kIoError, fmt::format("what answers at {} is no tcp transport of this version", where_)));
        co_return;
      }
    }
    becomeReady();
  } catch (const std::system_error& failure) {
    if (ended()) co_return;
    const bool refused = failure.code() == asio::error::eof;  // after it was connected
    end(refused ? errorOf(Reason::kAuthFailed, fmt::format("{} did not accept the ticket it gave", where_))
                : errorOf(Reason::kPeerUnreachable,
                          fmt::format("cannot connect to {}: {}; is the peer running, and the port open?", where_,
                                      failure.code().message())));
  }
}

void LinkState::becomeReady() {
  if (ended()) return;
  connect_timer_.cancel();
  for (const auto& stream : streams_) {
    stream->socket().non_blocking(true);
    stream->start();
  }
  std::vector<Transfer> waiting;
  {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::kReady;
    waiting.swap(waiting_);
    changed_.notify_all();
  }
  still_since_ns_ = monotonicNowNs();
  if (!waiting.empty()) {
    in_flight_.fetch_sub(waiting.size(), std::memory_order_relaxed);
    submit(waiting);
  }
}

Error LinkState::waitReady(uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  const bool known = changed_.wait_for(lock, std::chrono::nanoseconds(std::min(timeout_ns, kLongestWaitNs)),
                                       [this] { return phase_ != Phase::kOpening; });
  if (phase_ == Phase::kEnded) return why_;
  return known ? Error{} : errorOf(Reason::kTimeout, "the connection to " + where_ + " is still being opened");
}

// ---- transfers

void LinkState::submit(std::span<const Transfer> transfers) {
  in_flight_.fetch_add(transfers.size(), std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kOpening) {
      waiting_.insert(waiting_.end(), transfers.begin(), transfers.end());
      return;
    }
  }
  if (!watched_.exchange(true, std::memory_order_relaxed)) watchForStalls();
  // In runs, so that what goes together travels in one frame.
  const size_t run = std::max<size_t>(1, (transfers.size() + streams_.size() - 1) / streams_.size());
  for (size_t at = 0; at < transfers.size(); at += run) {
    const uint32_t turn = streams_.size() == 1 ? 0 : next_stream_.fetch_add(1, std::memory_order_relaxed);
    const std::span<const Transfer> share = transfers.subspan(at, std::min(run, transfers.size() - at));
    if (!streams_[turn % streams_.size()]->submit(share)) refuse(share);
  }
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
  in_flight_.fetch_sub(completions.size(), std::memory_order_relaxed);
  std::shared_ptr<LinkObserver> observer;
  {
    const std::lock_guard lock(mutex_);
    observer = observer_ != nullptr ? observer_ : late_.lock();
  }
  if (observer == nullptr) return;
  for (Completion& completion : completions) observer->completed(std::move(completion));
}

void LinkState::streamCompleted(std::vector<Completion>& completions) {
  report(completions);
}

// ---- the end

void LinkState::streamFailed(Reason reason, std::string detail) {
  asio::post(loop_.context(),
             [self = shared_from_this(), error = errorOf(reason, std::move(detail))] { self->end(error); });
}

void LinkState::close(const Error& why) {
  const auto self = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kEnded) return;
  }
  loop_.run([&] { self->end(why); });
}

// On the loop's thread: nothing is received while it runs.
void LinkState::end(const Error& why) {
  if (ended_.exchange(true, std::memory_order_acq_rel)) return;
  connect_timer_.cancel();
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
  std::shared_ptr<LinkObserver> observer;
  {
    const std::lock_guard lock(mutex_);
    observer = std::move(observer_);
  }
  observer->closed(why);
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
    if (self->in_flight_.load(std::memory_order_relaxed) == 0) {
      self->watched_.store(false, std::memory_order_relaxed);
      // A submit between the two lines above took the timer for running.
      if (self->in_flight_.load(std::memory_order_relaxed) == 0 || self->watched_.exchange(true)) return;
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
