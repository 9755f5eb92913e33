#include "engine/control_server.h"

#include <deque>
#include <future>
#include <set>

#include <fmt/format.h>
#include <asio/co_spawn.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "engine/address.h"
#include "engine/control_session.h"
#include "transport/sockets.h"

namespace tent {

using asio::ip::tcp;

struct ControlServer::State : std::enable_shared_from_this<ControlServer::State> {
  State(Loop& the_loop, ControlHandlers the_handlers)
      : loop(the_loop),
        acceptor(the_loop.context()),
        handlers(std::make_shared<const ControlHandlers>(std::move(the_handlers))) {}

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(std::shared_ptr<ControlSession> session);
  void run(asio::awaitable<void> work);
  bool makeRoom();
  void greet(const std::shared_ptr<ControlSession>& session);
  bool admit(const std::shared_ptr<ControlSession>& session);

  Loop& loop;
  tcp::acceptor acceptor;
  const std::shared_ptr<const ControlHandlers> handlers;
  std::shared_ptr<const ControlSecurity> security;
  std::deque<std::shared_ptr<ControlSession>> strangers;  // the oldest first
  std::set<std::shared_ptr<ControlSession>> admitted;
  size_t running = 0;                     // of accept() and serve()
  std::promise<void>* stopped = nullptr;  // of who waits for their end
  std::string address;
  std::string bind_address;
  bool loopback = false;
};

namespace {

// Who has proved nothing yet. While there are so many, one more waits to be accepted until one of them has proved that
// it is a peer, or takes the place of the oldest, which had time enough for that: so neither a flood of those who say
// nothing nor many peers that come at once keep anybody out who has the token.
constexpr size_t kMaxStrangers = 64;
constexpr uint64_t kTimeEnoughNs = 100'000'000;
constexpr uint64_t kRoomPauseNs = 2'000'000;
// Peers. One more is not let in, so that what they cost has an end.
constexpr size_t kMaxPeers = 1024;

Error cannotListen(const std::string& where, const std::error_code& code) {
  Error error = errorOfSocket(Reason::kIoError, "cannot listen on " + where, code);
  if (code == asio::error::address_in_use) {
    error.detail += "; another process has the port: choose another one, or 0 for any";
  }
  if (code == asio::error::access_denied) error.detail += "; ports below 1024 need a privilege: choose another one";
  if (code.category() == asio::error::get_netdb_category()) error.detail += "; the host is not known here";
  return error;
}

}  // namespace

// As work that stop() waits for the end of.
void ControlServer::State::run(asio::awaitable<void> work) {
  ++running;
  asio::co_spawn(loop.context(), std::move(work), [self = shared_from_this()](const std::exception_ptr& /*none*/) {
    if (--self->running == 0 && self->stopped != nullptr) self->stopped->set_value();
  });
}

asio::awaitable<void> ControlServer::State::accept() {
  const auto self = shared_from_this();
  while (acceptor.is_open()) {
    std::error_code error;
    co_await acceptor.async_wait(tcp::acceptor::wait_read, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    while (!makeRoom()) co_await pause(loop, kRoomPauseNs);
    if (!acceptor.is_open()) co_return;
    auto session = std::make_shared<ControlSession>(loop, security, handlers);
    if (!error) acceptSocket(acceptor, session->socket(), error);
    if (error) {
      // Nothing is accepted until what is lacking is there again; not asking at once keeps this from spinning.
      co_await pause(loop, kAcceptPauseNs);
      continue;
    }
    // A peer may be silent for as long as it likes; one whose machine has gone would keep its place among the others.
    tune(session->socket(), kControlSilenceNs);
    greet(session);
  }
}

bool ControlServer::State::makeRoom() {
  if (strangers.size() < kMaxStrangers) return true;
  if (strangers.front()->ageNs() < kTimeEnoughNs) return false;
  strangers.front()->close();
  strangers.pop_front();
  return true;
}

void ControlServer::State::greet(const std::shared_ptr<ControlSession>& session) {
  strangers.push_back(session);
  run(serve(session));
}

bool ControlServer::State::admit(const std::shared_ptr<ControlSession>& session) {
  std::erase(strangers, session);
  return admitted.size() < kMaxPeers && admitted.insert(session).second;
}

asio::awaitable<void> ControlServer::State::serve(std::shared_ptr<ControlSession> session) {
  const auto self = shared_from_this();
  const std::function<bool()> admit_it = [this, session] { return admit(session); };
  co_await session->serve(admit_it);
  std::erase(strangers, session);
  admitted.erase(session);
}

tl::expected<std::unique_ptr<ControlServer>, Error> ControlServer::listen(Loop& loop, const std::string& host,
                                                                          uint16_t port, ControlHandlers handlers) {
  auto state = std::make_shared<State>(loop, std::move(handlers));
  const std::string where = formatAddress(host, port);
  const auto found = findEndpoints(host, port);
  if (!found) return tl::unexpected(cannotListen(where, found.error()));
  std::error_code error;
  listenAt(state->acceptor, found->front(), error);
  if (error) return tl::unexpected(cannotListen(where, error));
  const tcp::endpoint bound = state->acceptor.local_endpoint(error);
  state->bind_address = bound.address().to_string();
  state->loopback = bound.address().is_loopback();
  state->address = formatAddress(state->bind_address, bound.port());
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(state)));
}

ControlServer::ControlServer(std::shared_ptr<State> state) : state_(std::move(state)) {}
ControlServer::~ControlServer() {
  stop();
}

const std::string& ControlServer::address() const {
  return state_->address;
}
const std::string& ControlServer::bindAddress() const {
  return state_->bind_address;
}

bool ControlServer::isLoopback() const {
  return state_->loopback;
}

void ControlServer::start(std::shared_ptr<const ControlSecurity> security) {
  state_->security = std::move(security);
  state_->loop.run([this] { state_->run(state_->accept()); });
}

void ControlServer::stop() {
  if (std::exchange(stopped_, true)) return;
  std::promise<void> stopped;
  state_->loop.run([this, &stopped] {
    std::error_code ignored;
    state_->acceptor.close(ignored);
    for (const auto& session : state_->strangers) session->close();
    for (const auto& session : state_->admitted) session->close();
    if (state_->running == 0) return stopped.set_value();
    state_->stopped = &stopped;
  });
  stopped.get_future().wait();
}

}  // namespace tent
