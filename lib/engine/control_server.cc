#include "engine/control_server.h"

#include <set>

#include <fmt/format.h>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <nlohmann/json.hpp>

#include "engine/address.h"
#include "engine/control_stream.h"
#include "engine/notification.h"
#include "transport/sockets.h"

namespace tent {

using asio::ip::tcp;

struct ControlServer::State : std::enable_shared_from_this<ControlServer::State> {
  State(Loop& the_loop, Handlers the_handlers)
      : loop(the_loop), acceptor(the_loop.context()), handlers(std::move(the_handlers)) {}

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(std::shared_ptr<tcp::socket> socket);
  asio::awaitable<Message> answer(Message request);
  asio::awaitable<Message> answerChecksums(Message request);

  Loop& loop;
  tcp::acceptor acceptor;
  Handlers handlers;
  std::set<std::shared_ptr<tcp::socket>> sessions;
  std::string address;
  std::string bind_address;
  bool loopback = false;
};

namespace {

Message malformed(std::string detail) {
  return errorMessage(errorOf(Reason::kIoError, std::move(detail)));
}

Error cannotListen(const std::string& where, const std::error_code& code) {
  std::string detail = fmt::format("cannot listen on {}: {}", where, code.message());
  if (code == asio::error::address_in_use) detail += "; another process has the port: choose another one, or 0 for any";
  if (code == asio::error::access_denied) detail += "; ports below 1024 need a privilege: choose another one";
  return errorOf(Reason::kIoError, std::move(detail));
}

}  // namespace

asio::awaitable<void> ControlServer::State::accept() {
  const auto self = shared_from_this();
  while (acceptor.is_open()) {
    std::error_code error;
    auto socket = std::make_shared<tcp::socket>(loop.context());
    co_await acceptor.async_wait(tcp::acceptor::wait_read, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (!error) acceptSocket(acceptor, *socket, error);
    if (error) {
      // Nothing is accepted until what is lacking is there again; not asking at once keeps this from spinning.
      co_await pause(loop.context(), kAcceptPauseNs);
      continue;
    }
    socket->set_option(tcp::no_delay(true), error);
    sessions.insert(socket);
    asio::co_spawn(loop.context(), serve(std::move(socket)), asio::detached);
  }
}

asio::awaitable<void> ControlServer::State::serve(std::shared_ptr<tcp::socket> socket) {
  const auto self = shared_from_this();
  try {
    while (true) {
      const std::string text = co_await readFrame(*socket, kMaxRequestBytes);
      tl::expected<Message, Error> request = parseMessage(text);
      // Not as one expression: GCC 12 destroys the temporaries of a conditional co_await twice.
      Message reply;
      if (request) {
        reply = co_await answer(*std::move(request));
      } else {
        reply = errorMessage(request.error());
      }
      reply["instance"] = handlers.instance;
      const std::string frame = frameOf(reply);
      co_await asio::async_write(*socket, asio::buffer(frame), asio::use_awaitable);
    }
  } catch (const std::exception&) {
    // The peer has gone or spoke nonsense; either ends its session, and nothing else.
  }
  sessions.erase(socket);
}

asio::awaitable<Message> ControlServer::State::answer(Message request) {
  const auto type = request.find("type");
  if (type == request.end() || !type->is_string()) co_return malformed("the request has no type");
  if (*type == "describe") co_return messageOf(handlers.describe());
  if (*type == "checksums") {
    Message checksums = co_await answerChecksums(std::move(request));
    co_return checksums;
  }
  if (*type == "connect") {
    const auto name = request.find("transport");
    const auto offer = request.find("offer");
    if (name == request.end() || !name->is_string() || offer == request.end() || !offer->is_string()) {
      co_return malformed("connect needs a transport and an offer");
    }
    const auto transport = valueOfName<Transport>(name->get<std::string>());
    if (!transport) co_return malformed("this library does not know the transport");
    tl::expected<std::string, Error> made = handlers.answer(*transport, offer->get_ref<const std::string&>());
    if (!made) co_return errorMessage(made.error());
    co_return Message{{"answer", *std::move(made)}};
  }
  if (*type == "notify") {
    tl::expected<SentNotification, Error> sent = notificationOf(request);
    if (!sent) co_return errorMessage(sent.error());
    if (Error refused = handlers.notify(sent->from, std::move(sent->notification))) co_return errorMessage(refused);
    co_return Message{{"taken", true}};
  }
  co_return malformed("this library does not know the type of the request");
}

asio::awaitable<Message> ControlServer::State::answerChecksums(Message request) {
  const auto ranges = request.find("ranges");
  if (ranges == request.end() || !ranges->is_array() || ranges->size() > kMaxRangesPerRequest) {
    co_return malformed("checksums needs an array of ranges");
  }
  Message checksums = Message::array();
  for (const Message& range : *ranges) {
    if (!range.is_array() || range.size() != 2 || !range[0].is_number_unsigned() || !range[1].is_number_unsigned()) {
      co_return malformed("a range is [address, length]");
    }
    auto reader = handlers.begin_checksum(range[0].get<uint64_t>(), range[1].get<uint64_t>());
    if (!reader) co_return errorMessage(reader.error());
    uint64_t checksum = 0;
    while (!(*reader)(checksum)) co_await asio::post(loop.context(), asio::use_awaitable);  // others in between
    checksums.push_back(checksum);
  }
  co_return Message{{"checksums", std::move(checksums)}};
}

tl::expected<std::unique_ptr<ControlServer>, Error> ControlServer::listen(Loop& loop, const std::string& host,
                                                                          uint16_t port, Handlers handlers) {
  auto state = std::make_shared<State>(loop, std::move(handlers));
  const std::string where = formatAddress(host, port);
  std::error_code error;
  tcp::resolver resolver(loop.context());
  const auto found =
      resolver.resolve(host, std::to_string(port), tcp::resolver::passive | tcp::resolver::address_configured, error);
  if (error || found.empty()) {
    return tl::unexpected(errorOf(Reason::kIoError, fmt::format("cannot listen on {}: the host is not known here ({})",
                                                                where, error ? error.message() : "no address")));
  }
  const tcp::endpoint endpoint = found.begin()->endpoint();
  listenAt(state->acceptor, endpoint, error);
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

void ControlServer::start() {
  asio::co_spawn(state_->loop.context(), state_->accept(), asio::detached);
}

void ControlServer::stop() {
  if (std::exchange(stopped_, true)) return;
  state_->loop.run([this] {
    std::error_code ignored;
    state_->acceptor.close(ignored);
    for (const auto& session : state_->sessions) session->close(ignored);
  });
}

}  // namespace tent
