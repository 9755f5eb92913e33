// A connection to a target that has not shown a ticket yet. It has two seconds.
//
// All of it runs on the loop's thread. Lives as long as it waits for something.
#pragma once

#include <functional>
#include <memory>

#include <asio/steady_timer.hpp>

#include "transport/tcp/sockets.h"
#include "transport/tcp/wire.h"

namespace tent::tcp {

class ServerStranger : public std::enable_shared_from_this<ServerStranger> {
 public:
  explicit ServerStranger(Socket socket) : socket_(std::move(socket)), timer_(socket_.get_executor()) {}

  // `admits` judges the ticket; `done` is called once, with whether it was admitted and welcomed.
  void start(std::function<bool(const Ticket&)> admits,
             std::function<void(const std::shared_ptr<ServerStranger>&, bool)> done);
  void close();
  Socket takeSocket() { return std::move(socket_); }

 private:
  void read();
  void judge();
  void finish(bool welcomed);

  Socket socket_;
  asio::steady_timer timer_;
  Hello hello_;
  Welcome welcome_;
  std::function<bool(const Ticket&)> admits_;
  std::function<void(const std::shared_ptr<ServerStranger>&, bool)> done_;
};

}  // namespace tent::tcp
