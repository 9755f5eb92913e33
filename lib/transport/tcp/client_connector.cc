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

ClientConnector::ClientConnector(Loop& loop, const TcpOptions& options, Answer answer, asio::ip::address host,
                                 std::string where)
    : loop_(loop),
      options_(options),
      answer_(std::move(answer)),
      host_(std::move(host)),
      where_(std::move(where)),
      timer_(loop.context()) {
  if (answer_.key)
    encryption_ = std::make_shared<const TlsContext>(TlsContext::Role::kClient, *answer_.key, kTlsIdentity);
}

template <typename Step>
auto ClientConnector::then(Step step) {
  return [self = shared_from_this(), step](const std::error_code& error) {
    if (self->done_ == nullptr) return;
    if (!error) return step();
    if (error == asio::error::access_denied) {
      return self->fail(Reason::kAuthFailed,
                        fmt::format("what answers at {} has not the key of the peer", self->where_));
    }
    const std::string what = "cannot connect to " + self->where_;
    Error failure = error == asio::error::eof ? errorOf(Reason::kPeerUnreachable, what + ": the peer hung up")
                                              : errorOfSocket(Reason::kPeerUnreachable, what, error);
    if (failure.reason == Reason::kPeerUnreachable) failure.detail += "; is the peer running, and the port open?";
    self->finish(tl::unexpected(std::move(failure)));
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
  for (const Ticket& ticket : answer_.tickets) {
    if (done_ == nullptr) return;  // the one before has failed at once
    connect(*attempts_.emplace_back(std::make_unique<Attempt>(loop_, ticket)));
  }
}

void ClientConnector::connect(Attempt& attempt) {
  const tcp::endpoint endpoint(host_, answer_.port);
  std::error_code error;
  openSocket(attempt.stream.socket, endpoint.protocol(), error);
  if (error) return finish(tl::unexpected(errorOfSocket(Reason::kIoError, "no socket for " + where_, error)));
  attempt.stream.socket.async_connect(endpoint, then([this, &attempt] { encrypt(attempt); }));
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
  std::error_code ignored;
  for (const auto& attempt : attempts_) attempt->stream.socket.close(ignored);
}

}  // namespace tent::tcp
