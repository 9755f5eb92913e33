// A connection to a target that has not shown a ticket yet. It has two seconds, in which it also says by its first byte
// whether it is encrypted.
//
// All of it runs on the loop's thread. Lives as long as it waits for something.
#pragma once

#include <functional>
#include <memory>

#include <asio/steady_timer.hpp>

#include "base/clock.h"
#include "transport/tcp/channel.h"
#include "transport/tcp/wire.h"

namespace tent::tcp {

class ServerStranger : public std::enable_shared_from_this<ServerStranger> {
 public:
  // Judges the ticket that came, encrypted or not.
  using Admits = std::function<bool(const Ticket& ticket, bool encrypted)>;

  ServerStranger(Socket socket, std::shared_ptr<const TlsContext> encryption)
      : stream_{std::move(socket), nullptr},
        encryption_(std::move(encryption)),
        timer_(stream_.socket.get_executor()) {}

  // `done` is called once, with whether it was admitted and welcomed.
  void start(Admits admits, std::function<void(const std::shared_ptr<ServerStranger>&, bool)> done);
  void close();
  uint64_t ageNs() const { return monotonicNowNs() - since_ns_; }
  Stream takeStream() { return std::move(stream_); }

 private:
  // Goes on with `step`, unless the connection has ended.
  template <typename Step>
  auto then(Step step);

  void begin();
  void awaitHello();
  void judge();
  void finish(bool welcomed);

  const uint64_t since_ns_ = monotonicNowNs();
  Stream stream_;
  const std::shared_ptr<const TlsContext> encryption_;
  asio::steady_timer timer_;
  Hello hello_;
  Welcome welcome_;
  Admits admits_;
  std::function<void(const std::shared_ptr<ServerStranger>&, bool)> done_;
};

}  // namespace tent::tcp
