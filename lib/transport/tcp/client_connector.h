// Opens the sockets of an initiator's link: all at once, each encrypted where that is wanted, shown its ticket and
// welcomed, or none.
//
// All of it runs on the loop's thread. Lives as long as it waits for something.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "base/error.h"
#include "transport/loop.h"
#include "transport/tcp/channel.h"
#include "transport/tcp/tcp_backend.h"
#include "transport/tcp/wire.h"

namespace tent::tcp {

class ClientConnector : public std::enable_shared_from_this<ClientConnector> {
 public:
  // Errors: peer_unreachable, auth_failed, resource_exhausted, io_error.
  using Done = std::function<void(tl::expected<std::vector<Stream>, Error>)>;

  // `where`: "HOST:PORT", for messages.
  ClientConnector(Loop& loop, const TcpOptions& options, Answer answer, asio::ip::address host, std::string where);

  // `done` is called once, later, unless stop comes first.
  void start(Done done);
  void stop();

 private:
  struct Attempt {
    Attempt(Loop& loop, const Ticket& ticket) : stream{Socket(loop.context()), nullptr} { hello.ticket = ticket; }
    Stream stream;
    Hello hello;
    Welcome welcome;
  };

  void connect(Attempt& attempt);
  void encrypt(Attempt& attempt);
  void showTicket(Attempt& attempt);
  void awaitWelcome(Attempt& attempt);
  void takeWelcome(const Attempt& attempt);
  void fail(Reason reason, std::string detail);
  void finish(tl::expected<std::vector<Stream>, Error> result);

  // A handler that goes on with `step`, unless all is over by then; an error fails the link.
  template <typename Step>
  auto then(Step step);

  Loop& loop_;
  const TcpOptions options_;
  const Answer answer_;
  const asio::ip::address host_;
  const std::string where_;
  std::shared_ptr<const TlsContext> encryption_;  // nullptr: the answer asks for none
  Done done_;                                     // while it is under way
  asio::steady_timer timer_;
  std::vector<std::unique_ptr<Attempt>> attempts_;  // one a stream
  size_t welcomed_ = 0;
};

}  // namespace tent::tcp
