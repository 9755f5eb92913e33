#include "transport/tcp/server.h"

#include <chrono>

#include <fmt/format.h>
#include <sys/random.h>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include "base/clock.h"

namespace tent::tcp {
namespace {

using asio::ip::tcp;

constexpr size_t kMaxStrangers = 64;
constexpr auto kStrangerTime = std::chrono::seconds(2);
constexpr auto kNoDescriptorsPause = std::chrono::milliseconds(50);

Ticket newTicket() {
  Ticket ticket;
  size_t got = 0;
  while (got < ticket.size()) {
    const ssize_t more = getrandom(ticket.data() + got, ticket.size() - got, 0);
    if (more > 0) got += static_cast<size_t>(more);
  }
  return ticket;
}

}  // namespace

Server::Server(Loop& loop, const TcpOptions& options, RegionTable& regions, std::shared_ptr<Counters> counters)
    : loop_(loop), options_(options), regions_(regions), counters_(std::move(counters)), acceptor_(loop.context()) {}

Error Server::listen() {
  std::error_code error;
  const asio::ip::address address = asio::ip::make_address(options_.bind_address, error);
  const tcp::endpoint endpoint(address, options_.port);
  if (!error) acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    std::string detail =
        fmt::format("cannot listen on {} port {} for tcp: {}", options_.bind_address, options_.port, error.message());
    if (error == asio::error::address_in_use) detail += "; choose another transports.tcp.port, or 0 for any";
    return {Reason::kIoError, Field::kNone, -1, {}, std::move(detail)};
  }
  port_ = acceptor_.local_endpoint().port();
  asio::co_spawn(loop_.context(), accept(), asio::detached);
  return {};
}

Answer Server::invite(uint32_t streams) {
  Answer answer;
  answer.port = port_;
  const std::lock_guard lock(mutex_);
  const uint64_t now_ns = monotonicNowNs();
  dropExpiredLocked(now_ns);
  for (uint32_t i = 0; i < streams; ++i) {
    answer.tickets.push_back(newTicket());
    tickets_[answer.tickets.back()] = now_ns + options_.connect_timeout_ns;
  }
  return answer;
}

void Server::dropExpiredLocked(uint64_t now_ns) {
  std::erase_if(tickets_, [&](const auto& ticket) { return ticket.second < now_ns; });
}

bool Server::takeTicket(const Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  dropExpiredLocked(monotonicNowNs());
  return tickets_.erase(ticket) > 0;
}

asio::awaitable<void> Server::accept() {
  const auto self = shared_from_this();
  while (acceptor_.is_open()) {
    std::error_code error;
    auto socket = std::make_shared<Socket>(loop_.context());
    co_await acceptor_.async_accept(*socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error == asio::error::no_descriptors) {
      asio::steady_timer pause(loop_.context(), kNoDescriptorsPause);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
      continue;
    }
    // Closing is all that a stranger too many gets.
    if (error || strangers_.size() >= kMaxStrangers) continue;
    strangers_.insert(socket);
    asio::co_spawn(loop_.context(), welcome(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> Server::welcome(std::shared_ptr<Socket> socket) {
  const auto self = shared_from_this();
  auto timer = std::make_shared<asio::steady_timer>(loop_.context(), kStrangerTime);
  timer->async_wait([timer, socket](const std::error_code& error) {
    std::error_code ignored;
    if (!error) socket->close(ignored);
  });
  bool welcomed = false;
  try {
    Hello hello;
    co_await asio::async_read(*socket, asio::buffer(&hello, sizeof hello), asio::use_awaitable);
    welcomed = hello.magic == kMagic && hello.version == kVersion && takeTicket(hello.ticket);
    if (welcomed) {
      const Welcome answer;
      co_await asio::async_write(*socket, asio::buffer(&answer, sizeof answer), asio::use_awaitable);
      socket->set_option(tcp::no_delay(true));
      socket->set_option(asio::socket_base::keep_alive(true));
      socket->non_blocking(true);
    }
  } catch (const std::system_error&) {
    welcomed = false;  // it has gone, or its time is over
  }
  timer->cancel();
  strangers_.erase(socket);
  if (!welcomed || !socket->is_open() || !acceptor_.is_open()) co_return;
  const auto ended = [weak = weak_from_this()](const std::shared_ptr<ServerConnection>& connection) {
    if (const auto server = weak.lock()) server->connections_.erase(connection);
  };
  auto connection = std::make_shared<ServerConnection>(std::move(*socket), regions_, counters_, ended);
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
    for (const auto& socket : strangers_) socket->close(ignored);
    for (const auto& connection : connections_) connection->close();
    connections_.clear();
  });
}

}  // namespace tent::tcp
