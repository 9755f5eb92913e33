#include "engine/control_client.h"

#include <atomic>
#include <deque>
#include <future>

#include <fmt/format.h>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "engine/control_stream.h"
#include "transport/sockets.h"

namespace tent {

using asio::ip::tcp;

// All members are used on the loop's thread only.
struct ControlClient::State : std::enable_shared_from_this<ControlClient::State> {
  struct Exchange {
    std::string frame;
    uint64_t timeout_ns;
    Done done;
  };

  State(Loop& the_loop, std::string the_name, std::vector<tcp::endpoint> the_endpoints,
        std::shared_ptr<const ControlSecurity> the_security)
      : loop(the_loop),
        name(std::move(the_name)),
        endpoints(std::move(the_endpoints)),
        security(the_security),
        stream(the_loop, std::move(the_security), ControlStream::Role::kClient),
        timer(the_loop.context()) {}

  asio::awaitable<void> work();
  asio::awaitable<void> connect();
  asio::awaitable<tl::expected<Message, Error>> run(const Exchange& exchange);
  Error errorOfConnecting(const std::error_code& code) const;
  Error errorOfMismatch(AuthMismatch::Kind kind) const;
  void end() { stream.close(); }

  Loop& loop;
  const std::string name;
  const std::vector<tcp::endpoint> endpoints;
  std::atomic<size_t> reached{0};  // of these, the one that was connected to last
  const std::shared_ptr<const ControlSecurity> security;
  ControlStream stream;
  asio::steady_timer timer;
  std::deque<Exchange> queue;
  bool working = false;
  bool timed_out = false;
  bool closed = false;
};

Error ControlClient::State::errorOfConnecting(const std::error_code& code) const {
  Error error = errorOfSocket(Reason::kPeerUnreachable, "cannot connect to " + name, code);
  if (code == asio::error::connection_refused) error.detail += "; nothing listens there: is the target running?";
  return error;
}

Error ControlClient::State::errorOfMismatch(AuthMismatch::Kind kind) const {
  const auto refused = [](std::string detail) { return errorOf(Reason::kAuthFailed, std::move(detail)); };
  switch (kind) {
    case AuthMismatch::Kind::kOtherToken:
      return refused(
          fmt::format("{} has another token than this side, which uses {}: both need copies of one file, named by "
                      "auth.token_file, and what was started before its token was replaced must be started again",
                      name, security->token_path));
    case AuthMismatch::Kind::kPeerIsOpen:
      return refused(
          fmt::format("{} does not ask for a token (its auth.mode is \"none\", or it is another kind of service), and "
                      "this side, which uses {}, trusts nobody without: give that engine the token by auth.token_file, "
                      "or set auth.mode to \"none\" here too",
                      name, security->token_path));
    case AuthMismatch::Kind::kPeerHasToken: break;
  }
  return refused(
      fmt::format("{} asks for a token, and auth.mode is \"none\" on this side: set it to \"token\", and "
                  "auth.token_file to a copy of that engine's file",
                  name));
}

// Throws std::system_error, operation_aborted when the time is up or the segment was closed.
asio::awaitable<void> ControlClient::State::connect() {
  std::error_code error = asio::error::not_found;
  for (size_t i = 0; error && i < endpoints.size(); ++i) {
    if (closed || timed_out) throw std::system_error(asio::error::operation_aborted);
    end();
    reached = i;
    openSocket(stream.socket(), endpoints[i].protocol(), error);
    if (!error) co_await stream.socket().async_connect(endpoints[i], asio::redirect_error(asio::use_awaitable, error));
  }
  if (closed || timed_out) throw std::system_error(asio::error::operation_aborted);
  if (error) throw std::system_error(error);
}

asio::awaitable<tl::expected<Message, Error>> ControlClient::State::run(const Exchange& exchange) {
  // Closing the socket ends whatever it waits in.
  timed_out = false;
  timer.expires_after(std::chrono::nanoseconds(exchange.timeout_ns));
  timer.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (error) return;
    self->timed_out = true;
    self->end();
  });
  const auto error = [&](Reason reason, std::string detail) {
    return tl::unexpected(errorOf(reason, std::move(detail)));
  };
  const bool was_open = stream.isOpen();
  bool connected = was_open;
  try {
    if (!was_open) {
      co_await connect();
      connected = true;
      tune(stream.socket(), kControlSilenceNs);
      co_await stream.handshake();
    }
    co_await stream.write(exchange.frame);
    const size_t length = co_await stream.readHead(kMaxAnswerBytes);
    const std::string text = co_await stream.readText(length);
    timer.cancel();
    tl::expected<Message, Error> answer = parseMessage(text);
    if (!answer) {
      end();
    } else if (Error refused = errorOf(*answer)) {
      co_return tl::unexpected(std::move(refused));
    }
    co_return answer;
  } catch (const AuthMismatch& mismatch) {
    timer.cancel();
    end();
    co_return tl::unexpected(errorOfMismatch(mismatch.kind()));
  } catch (const std::system_error& failure) {
    timer.cancel();
    end();
    if (closed) co_return error(Reason::kCanceled, "the segment was closed");
    if (timed_out) {
      co_return error(
          connected ? Reason::kTimeout : Reason::kPeerUnreachable,
          fmt::format("{} {} within {}: is it stopped, or behind a firewall?", name,
                      connected ? "did not answer" : "could not be connected to", formatDuration(exchange.timeout_ns)));
    }
    if (!connected) co_return tl::unexpected(errorOfConnecting(failure.code()));
    co_return error(was_open ? Reason::kPeerLost : Reason::kPeerUnreachable,
                    fmt::format("{} closed the control connection ({}): has it ended, or is it another kind of "
                                "service?",
                                name, failure.code().message()));
  }
}

asio::awaitable<void> ControlClient::State::work() {
  const auto self = shared_from_this();
  while (!queue.empty()) {
    const Exchange exchange = std::move(queue.front());
    queue.pop_front();
    const bool was_open = stream.isOpen();
    tl::expected<Message, Error> result = co_await run(exchange);
    // A connection that was idle may have been lost long ago, with a peer that is there again.
    if (!result && result.error().reason == Reason::kPeerLost && was_open && !closed) result = co_await run(exchange);
    exchange.done(std::move(result));
  }
  working = false;
}

ControlClient::ControlClient(Loop& loop, std::string name, std::vector<tcp::endpoint> endpoints,
                             std::shared_ptr<const ControlSecurity> security)
    : state_(std::make_shared<State>(loop, std::move(name), std::move(endpoints), std::move(security))) {}

ControlClient::~ControlClient() {
  close();
}

std::string ControlClient::host() const {
  return state_->endpoints[state_->reached].address().to_string();
}

void ControlClient::exchange(const Message& request, uint64_t timeout_ns, Done done) {
  asio::post(state_->loop.context(),
             [state = state_, frame = frameOf(request), timeout_ns, done = std::move(done)]() mutable {
               if (state->closed) {
                 return done(tl::unexpected(errorOf(Reason::kCanceled, "the segment was closed")));
               }
               state->queue.push_back({std::move(frame), timeout_ns, std::move(done)});
               if (std::exchange(state->working, true)) return;
               asio::co_spawn(state->loop.context(), state->work(), asio::detached);
             });
}

tl::expected<Message, Error> ControlClient::ask(const Message& request, uint64_t timeout_ns) {
  auto result = std::make_shared<std::promise<tl::expected<Message, Error>>>();
  std::future<tl::expected<Message, Error>> future = result->get_future();
  exchange(request, timeout_ns,
           [result](tl::expected<Message, Error> answer) { result->set_value(std::move(answer)); });
  return future.get();
}

void ControlClient::close() {
  asio::post(state_->loop.context(), [state = state_] {
    state->closed = true;
    state->end();
  });
}

}  // namespace tent
