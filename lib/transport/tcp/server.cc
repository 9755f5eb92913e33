#include "transport/tcp/server.h"

#include <chrono>

#include <fmt/format.h>
#include <asio/post.hpp>

#include "base/clock.h"
#include "transport/sockets.h"

namespace tent::tcp {
namespace {

using asio::ip::tcp;

// While there are so many that have shown no ticket, one more waits to be accepted until one of them has, or takes the
// place of the oldest, which had time enough: neither those who show nothing nor many who come at once keep out who has
// one.
constexpr size_t kMaxStrangers = 64;
constexpr uint64_t kTimeEnoughNs = 100'000'000;
constexpr auto kRoomPause = std::chrono::milliseconds(2);
constexpr auto kPauseAfterFailure = std::chrono::milliseconds(50);

}  // namespace

Server::Server(Loop& loop, const TcpOptions& options, RegionTable& regions, std::shared_ptr<Counters> counters)
    : loop_(loop),
      options_(options),
      regions_(regions),
      counters_(std::move(counters)),
      acceptor_(loop.context()),
      accept_timer_(loop.context()),
      tickets_(options.connect_timeout_ns),
      encrypted_tickets_(options.connect_timeout_ns) {}

Error Server::listen() {
  std::error_code error;
  const asio::ip::address address = asio::ip::make_address(options_.bind_address, error);
  const tcp::endpoint endpoint(address, options_.port);
  if (!error) listenAt(acceptor_, endpoint, error);
  if (error) {
    Error failure =
        errorOfSocket(Reason::kIoError,
                      fmt::format("cannot listen on {} port {} for tcp", options_.bind_address, options_.port), error);
    if (error == asio::error::address_in_use) failure.detail += "; choose another transports.tcp.port, or 0 for any";
    return failure;
  }
  port_ = acceptor_.local_endpoint().port();
  asio::post(loop_.context(), [self = shared_from_this()] { self->waitAcceptable(); });
  return {};
}

Answer Server::invite(const Offer& offer) {
  Answer answer;
  answer.port = port_;
  const bool encrypted = offer.encrypted || options_.encrypt;
  if (encrypted) answer.key = key_;
  TicketBook& book = encrypted ? encrypted_tickets_ : tickets_;
  const uint64_t now_ns = monotonicNowNs();
  for (uint32_t i = 0; i < offer.streams; ++i) answer.tickets.push_back(book.issue(now_ns));
  return answer;
}

void Server::waitAcceptable() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_wait(tcp::acceptor::wait_read, [self = shared_from_this()](const std::error_code& error) {
    if (!error) self->accept();
  });
}

bool Server::makeRoom() {
  if (strangers_.size() < kMaxStrangers) return true;
  if (strangers_.front()->ageNs() < kTimeEnoughNs) return false;
  strangers_.front()->close();
  strangers_.pop_front();
  return true;
}

void Server::acceptAfter(std::chrono::milliseconds pause) {
  accept_timer_.expires_after(pause);
  accept_timer_.async_wait([self = shared_from_this()](const std::error_code& canceled) {
    if (!canceled) self->accept();
  });
}

void Server::accept() {
  while (acceptor_.is_open()) {
    if (!makeRoom()) return acceptAfter(kRoomPause);
    Socket socket(loop_.context());
    std::error_code error;
    acceptSocket(acceptor_, socket, error);
    if (!error) {
      welcome(std::move(socket));
    } else if (error == asio::error::would_block) {
      return waitAcceptable();
    } else if (error != asio::error::connection_aborted && error != asio::error::interrupted) {
      // Out of descriptors or memory: it is still there to be accepted, which would be tried without end.
      return acceptAfter(kPauseAfterFailure);
    }
  }
}

void Server::welcome(Socket socket) {
  auto stranger = strangers_.emplace_back(std::make_shared<ServerStranger>(std::move(socket), encryption_));
  const auto admits = [weak = weak_from_this()](const Ticket& ticket, bool encrypted) {
    const auto server = weak.lock();
    if (server == nullptr) return false;
    return (encrypted ? server->encrypted_tickets_ : server->tickets_).redeem(ticket, monotonicNowNs());
  };
  const auto done = [weak = weak_from_this()](const std::shared_ptr<ServerStranger>& ended, bool admitted) {
    const auto server = weak.lock();
    if (server == nullptr) return;
    std::erase(server->strangers_, ended);
    if (admitted && server->acceptor_.is_open()) server->admit(ended->takeStream());
  };
  stranger->start(admits, done);
}

void Server::admit(Stream stream) {
  tune(stream.socket, options_.stall_timeout_ns);
  const auto ended = [weak = weak_from_this()](const std::shared_ptr<ServerConnection>& connection) {
    if (const auto server = weak.lock()) server->connections_.erase(connection);
  };
  auto connection = std::make_shared<ServerConnection>(std::move(stream), regions_, counters_, ended);
  connections_.insert(connection);
  connection->start();
}

void Server::closeUsersOf(uint64_t region) {
  loop_.run([&] {
    for (auto it = connections_.begin(); it != connections_.end();) {
      const std::shared_ptr<ServerConnection> connection = *it;
      it = connection->uses(region) ? (connection->close(), connections_.erase(it)) : std::next(it);
    }
  });
}

void Server::stop() {
  loop_.run([&] {
    std::error_code ignored;
    acceptor_.close(ignored);
    accept_timer_.cancel();
    for (const auto& stranger : strangers_) stranger->close();
    strangers_.clear();
    for (const auto& connection : connections_) connection->close();
    connections_.clear();
  });
}

}  // namespace tent::tcp
