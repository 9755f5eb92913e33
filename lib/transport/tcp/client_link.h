// An initiator's link: some streams to one peer, opened together and ended together.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <asio/steady_timer.hpp>

#include "transport/backend.h"
#include "transport/loop.h"
#include "transport/tcp/client_connector.h"
#include "transport/tcp/client_stream.h"
#include "transport/tcp/tcp_backend.h"

namespace tent::tcp {

// Thread safety: as Link's members of the same names.
class LinkState : public ClientStream::Owner, public std::enable_shared_from_this<LinkState> {
 public:
  LinkState(Loop& loop, const TcpOptions& options, const std::shared_ptr<Counters>& counters,
            std::shared_ptr<LinkObserver> observer);

  // Begins to connect; once.
  void open(const Answer& answer, const asio::ip::address& host);

  void submit(std::span<const Transfer> transfers);
  bool cancel(uint64_t token);
  Error waitReady(uint64_t timeout_ns);
  void close(const Error& why);
  bool ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  enum class Phase : uint8_t { kOpening, kReady, kEnded };

  void streamCompleted(std::vector<Completion>& completions) override;
  void streamFailed(const Error& why) override;
  std::shared_ptr<void> keepAlive() override { return shared_from_this(); }

  void connected(std::vector<Stream> streams);
  void end(const Error& why);
  ClientStream& leastLoaded();
  void watchForStalls();
  void armStallTimer();
  void report(std::vector<Completion>& completions);
  void reported(uint64_t count);
  void take(std::span<const Transfer> transfers);
  void refuse(std::span<const Transfer> transfers);

  Loop& loop_;
  const TcpOptions options_;
  std::vector<std::unique_ptr<ClientStream>> streams_;  // fixed once made
  std::string where_;                                   // fixed once opened
  std::atomic<bool> ended_{false};
  // Transfers taken whose report has not returned, and one for the link itself until it has ended: at 0 its end is
  // told.
  std::atomic<uint64_t> unreported_{1};
  std::atomic<bool> watched_{false};  // the stall timer runs

  std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::kOpening;
  Error why_;
  std::vector<Transfer> waiting_;           // for the link to be ready
  std::shared_ptr<LinkObserver> observer_;  // until the end was told: it may own the link
  const std::weak_ptr<LinkObserver> late_;  // for what is submitted after that

  // The loop's thread.
  std::shared_ptr<ClientConnector> connector_;
  asio::steady_timer stall_timer_;
  uint64_t moved_before_ = 0;
  uint64_t still_since_ns_ = 0;
};

class TcpLink final : public Link {
 public:
  explicit TcpLink(std::shared_ptr<LinkState> state) : state_(std::move(state)) {}
  TcpLink(const TcpLink&) = delete;
  TcpLink& operator=(const TcpLink&) = delete;
  ~TcpLink() override;

  void submit(std::span<const Transfer> transfers) override { state_->submit(transfers); }
  bool cancel(uint64_t token) override { return state_->cancel(token); }
  bool ended() const override { return state_->ended(); }
  Error waitReady(uint64_t timeout_ns) override { return state_->waitReady(timeout_ns); }
  void close(const Error& why) override { state_->close(why); }

 private:
  const std::shared_ptr<LinkState> state_;
};

}  // namespace tent::tcp
