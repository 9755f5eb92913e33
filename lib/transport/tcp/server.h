// A target's listening end: gives out tickets, and lets in the streams that bring one.
//
// Thread safety: invite may be called from any thread; the rest runs on the loop's thread, or waits for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "base/error.h"
#include "base/random.h"
#include "transport/loop.h"
#include "transport/regions.h"
#include "transport/tcp/counters.h"
#include "transport/tcp/server_connection.h"
#include "transport/tcp/server_stranger.h"
#include "transport/tcp/tcp_backend.h"
#include "transport/tcp/wire.h"
#include "transport/tickets.h"

namespace tent::tcp {

class Server : public std::enable_shared_from_this<Server> {
 public:
  Server(Loop& loop, const TcpOptions& options, RegionTable& regions, std::shared_ptr<Counters> counters);

  // io_error: the address is taken, or is none.
  Error listen();
  Answer invite(const Offer& offer);
  // Closes the connections that are moving bytes of a region.
  void closeUsersOf(uint64_t region);
  void stop();

 private:
  void waitAcceptable();
  void accept();
  void acceptAfter(std::chrono::milliseconds pause);
  bool makeRoom();
  void welcome(Socket socket);
  void admit(Stream stream);

  Loop& loop_;
  const TcpOptions options_;
  RegionTable& regions_;
  const std::shared_ptr<Counters> counters_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer accept_timer_;
  uint16_t port_ = 0;

  // Those of one kind let nobody in of the other.
  TicketBook tickets_;
  TicketBook encrypted_tickets_;
  const TlsKey key_ = randomValue<TlsKey>();
  const std::shared_ptr<const TlsContext> encryption_ =
      std::make_shared<const TlsContext>(TlsContext::Role::kServer, key_, kTlsIdentity);

  // The loop's thread.
  std::deque<std::shared_ptr<ServerStranger>> strangers_;  // the oldest first
  std::set<std::shared_ptr<ServerConnection>> connections_;
};

}  // namespace tent::tcp
