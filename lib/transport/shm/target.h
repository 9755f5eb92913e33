// The target's side of shm: the socket that peers connect to, the tickets that let them in, and the regions that they
// may ask for.
//
// Only processes of the same user get in, each with a ticket that works once and for a limited time. A connection that
// has shown none is closed after two seconds, and there are at most 64 of those.
//
// Thread safety: all members may be called from any thread. Connections live on the loop's thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "transport/backend.h"
#include "transport/loop.h"
#include "transport/shm/wire.h"
#include "transport/tickets.h"

namespace tent::shm {

class Connection;

class Target : public std::enable_shared_from_this<Target> {
 public:
  // Listens at once: io_error. `loop` outlives stop().
  static tl::expected<std::shared_ptr<Target>, Error> open(Loop& loop);

  // registration_failed when the memory is not sealed as its access asks.
  Error add(const Region& region);

  // Takes the region back from the peers that were given it, and waits until they have let go of it; for two seconds,
  // in case one stands still.
  void remove(uint64_t id);

  // A new answer: peer_unreachable once stopped.
  tl::expected<std::string, Error> answer();

  // Takes all regions back, as remove() does: what peers were copying to and from is the application's again.
  void stop();

 private:
  friend class Connection;
  static constexpr uint64_t kTicketLifeNs = 30'000'000'000;

  explicit Target(Loop& loop);

  void accept();
  void acceptLater();
  void admit(Fd socket);

  // For connections, on the loop's thread.
  bool useTicket(const Ticket& ticket) { return tickets_.redeem(ticket, monotonicNowNs()); }
  // Answers a kFetch: sends the region, or why not, while it cannot be taken back. Whether it was given in `given`.
  SendResult sendRegion(int socket, uint64_t id, bool& given);
  void released(uint64_t id);
  void forget(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }
  void revoke(uint64_t id);
  void takeBack(const std::vector<uint64_t>& ids);

  Loop& loop_;
  const Secret name_ = randomValue<Secret>();
  const Secret nonce_ = randomValue<Secret>();  // lies in this process for peers to prove that they can read it

  TicketBook tickets_{kTicketLifeNs};

  // On the loop's thread alone.
  asio::posix::stream_descriptor listener_;
  asio::steady_timer accept_timer_;
  std::set<std::shared_ptr<Connection>> connections_;

  std::mutex mutex_;
  std::condition_variable released_;
  std::unordered_map<uint64_t, Region> regions_;
  std::unordered_map<uint64_t, uint32_t> unreleased_;  // regions taken back -> peers that have not let go yet
  bool stopped_ = false;
};

}  // namespace tent::shm
