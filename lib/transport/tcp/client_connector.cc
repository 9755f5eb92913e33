#include "transport/tcp/client_connector.h"

#include <chrono>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "transport/sockets.h"
#include "transport/tcp/opening.h"

namespace tent::tcp {

using asio::ip::tcp;

ClientConnector::ClientConnector(Loop& loop, const TcpOptions& options, Answer answer, std::string host,
                                 std::string where)
    : loop_(loop),
      options_(options),
      answer_(std::move(answer)),
      host_(std::move(host)),
      where_(std::move(where)),
      resolver_(loop.context()),
      timer_(loop.context()) {
  if (answer_.key)
    encryption_ = std::make_shared<const TlsContext>(TlsContext::Role::kClient, *answer_.key, kTlsIdentity);
}

template <typename Step>
auto ClientConnector::then(Step step) {
  return [self = shared_from_this(), step](const std::error_code& error, auto&&... /*bytes*/) {
    if (self->done_ == nullptr) return;
    if (!error) return step();
    if (error == asio::error::access_denied) {
      return self->fail(Reason::kAuthFailed,
                        fmt::format("what answers at {} has not the key of the peer", self->where_));
    }
    self->fail(Reason::kPeerUnreachable,
               fmt::format("cannot connect to {}: {}; is the peer running, and the port open?", self->where_,
                           error == asio::error::eof ? "the peer hung up" : error.message()));
  };
}

void ClientConnector::start(Done done) {
  done_ = std::move(done);
  timer_.expires_after(std::chrono::nanoseconds(options_.connect_timeout_ns));
  timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (error) return;
    self->fail(Reason::kPeerUnreachable,
               fmt::format("no connection to {} within {}: is the peer stopped, or behind a firewall?", self->where_,
                           formatDuration(self->options_.connect_timeout_ns)));
  });
  resolve();
}

void ClientConnector::resolve() {
  const auto connect_all = [this] {
    for (const Ticket& ticket : answer_.tickets) {
      if (done_ == nullptr) return;  // the one before has failed at once
      connect(*attempts_.emplace_back(std::make_unique<Attempt>(loop_, ticket)));
    }
  };
  std::error_code not_numeric;
  const asio::ip::address address = asio::ip::make_address(host_, not_numeric);
  if (!not_numeric) {
    endpoints_.emplace_back(address, answer_.port);
    return connect_all();
  }
  // In a thread of asio's, since the C library's resolver blocks.
  resolver_.async_resolve(host_, std::to_string(answer_.port),
                          [self = shared_from_this(), connect_all](const std::error_code& error, const auto& results) {
                            if (!error) self->endpoints_.assign(results.begin(), results.end());
                            self->then(connect_all)(error);
                          });
}

void ClientConnector::connect(Attempt& attempt) {
  const tcp::endpoint& endpoint = endpoints_[attempt.endpoint];
  std::error_code error;
  attempt.stream.socket.close(error);
  openSocket(attempt.stream.socket, endpoint.protocol(), error);
  if (error) return fail(Reason::kResourceExhausted, fmt::format("no socket for {}: {}", where_, error.message()));
  attempt.stream.socket.async_connect(endpoint, [self = shared_from_this(), &attempt](const std::error_code& failure) {
    // A name may have several addresses.
    if (failure && self->done_ != nullptr && ++attempt.endpoint < self->endpoints_.size()) {
      return self->connect(attempt);
    }
    self->then([self, &attempt] { self->encrypt(attempt); })(failure);
  });
}

void ClientConnector::encrypt(Attempt& attempt) {
  // Before the ticket, which would wait until the handshake's last flight was acknowledged.
  tune(attempt.stream.socket, options_.stall_timeout_ns);
  if (encryption_ == nullptr) return showTicket(attempt);
  attempt.stream.encryption = std::make_unique<Encryption>(encryption_, attempt.stream.socket.native_handle());
  shakeHands(attempt.stream, then([this, &attempt] { showTicket(attempt); }));
}

void ClientConnector::showTicket(Attempt& attempt) {
  sendAll(attempt.stream, std::as_bytes(std::span(&attempt.hello, 1)),
          then([this, &attempt] { awaitWelcome(attempt); }));
}

void ClientConnector::awaitWelcome(Attempt& attempt) {
  receiveAll(attempt.stream, std::as_writable_bytes(std::span(&attempt.welcome, 1)),
             then([this, &attempt] { takeWelcome(attempt); }));
}

void ClientConnector::takeWelcome(const Attempt& attempt) {
  if (attempt.welcome.magic != kMagic || attempt.welcome.version != kVersion) {
    return fail(Reason::kIoError, fmt::format("what answers at {} is no tcp transport of this version", where_));
  }
  if (attempt.welcome.status != Welcome::kAdmitted) {
    return fail(Reason::kAuthFailed,
                fmt::format("{} did not accept the ticket it gave: it was used before, or has expired", where_));
  }
  if (++welcomed_ < attempts_.size()) return;
  std::vector<Stream> streams;
  for (const auto& each : attempts_) streams.push_back(std::move(each->stream));
  finish(std::move(streams));
}

void ClientConnector::fail(Reason reason, std::string detail) {
  finish(tl::unexpected(errorOf(reason, std::move(detail))));
}

void ClientConnector::finish(tl::expected<std::vector<Stream>, Error> result) {
  const Done done = std::exchange(done_, nullptr);
  stop();
  if (done != nullptr) done(std::move(result));
}

void ClientConnector::stop() {
  done_ = nullptr;
  timer_.cancel();
  resolver_.cancel();
  std::error_code ignored;
  for (const auto& attempt : attempts_) attempt->stream.socket.close(ignored);
}

}  // namespace tent::tcp
