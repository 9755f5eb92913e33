#include "engine/control_session.h"

#include <chrono>
#include <exception>
#include <optional>

#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "engine/notification.h"

namespace tent {
namespace {

Message malformed(std::string detail) {
  return errorMessage(errorOf(Reason::kIoError, std::move(detail)));
}

}  // namespace

ControlSession::ControlSession(Loop& loop, std::shared_ptr<const ControlSecurity> security,
                               std::shared_ptr<const ControlHandlers> handlers)
    : loop_(loop),
      security_(std::move(security)),
      handlers_(std::move(handlers)),
      stream_(loop, security_, ControlStream::Role::kServer),
      timer_(loop.context()) {}

void ControlSession::limit(uint64_t ns) {
  timer_.expires_after(std::chrono::nanoseconds(ns));
  timer_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    // One that had expired cannot be canceled any more: it sees that the timer was set anew.
    if (error || self == nullptr || self->timer_.expiry() > std::chrono::steady_clock::now()) return;
    self->close();
  });
}

void ControlSession::close() {
  timer_.cancel();
  if (guest_ != nullptr) guest_->leave();
  stream_.close();
}

asio::awaitable<void> ControlSession::serve(std::function<bool()> admit) {
  const auto self = shared_from_this();
  std::optional<AuthMismatch::Kind> mismatch;
  try {
    co_await exchange(std::move(admit));
  } catch (const AuthMismatch& found) {
    mismatch = found.kind();
  } catch (const std::exception&) {
    // The peer has gone or spoke nonsense; either ends its session, and nothing else.
  }
  try {
    if (mismatch) co_await stream_.refuse(*mismatch);  // within what is left of a stranger's time
  } catch (const std::exception&) {
    // It did not want to know.
  }
  close();
}

asio::awaitable<void> ControlSession::exchange(std::function<bool()> admit) {
  limit(kStrangerTimeNs);
  co_await stream_.handshake();
  bool admitted = !security_->isOpen();
  if (admitted && !admit()) co_return;
  while (true) {
    if (admitted) unlimit();
    const size_t length = co_await stream_.readHead(kMaxRequestBytes);
    if (admitted) limit(kFrameTimeNs);
    const std::string text = co_await stream_.readText(length);
    tl::expected<Message, Error> request = parseMessage(text);
    if (!admitted && request) {
      admitted = true;
      if (!admit()) co_return;
    }
    if (admitted) unlimit();
    // Not as one expression: GCC 12 destroys the temporaries of a conditional co_await twice.
    Message reply;
    if (request) {
      reply = co_await answer(*std::move(request));
    } else {
      reply = errorMessage(request.error());
    }
    reply["instance"] = handlers_->instance;
    const std::string frame = frameOf(reply);
    if (admitted) limit(kFrameTimeNs);
    co_await stream_.write(frame);
    // Others have their turn, also where this peer's next request is here already.
    co_await asio::post(loop_.context(), asio::use_awaitable);
    if (!stream_.isOpen()) co_return;
  }
}

asio::awaitable<Message> ControlSession::answer(Message request) {
  const auto type = request.find("type");
  if (type == request.end() || !type->is_string()) co_return malformed("the request has no type");
  if (*type == "describe") co_return messageOf(handlers_->describe());
  if (*type == "checksums") {
    Message checksums = co_await answerChecksums(std::move(request));
    co_return checksums;
  }
  if (type->get_ref<const std::string&>().starts_with("stage_")) {
    Message reply = co_await answerStaging(std::move(request));
    co_return reply;
  }
  if (*type == "connect") {
    const auto name = request.find("transport");
    const auto offer = request.find("offer");
    if (name == request.end() || !name->is_string() || offer == request.end() || !offer->is_string()) {
      co_return malformed("connect needs a transport and an offer");
    }
    const auto transport = valueOfName<Transport>(name->get<std::string>());
    if (!transport) co_return malformed("this library does not know the transport");
    tl::expected<std::string, Error> made = handlers_->answer(*transport, offer->get_ref<const std::string&>());
    if (!made) co_return errorMessage(made.error());
    co_return Message{{"answer", *std::move(made)}};
  }
  if (*type == "notify") {
    tl::expected<SentNotification, Error> sent = notificationOf(request);
    if (!sent) co_return errorMessage(sent.error());
    if (Error refused = handlers_->notify(sent->from, std::move(sent->notification))) co_return errorMessage(refused);
    co_return Message{{"taken", true}};
  }
  co_return malformed("this library does not know the type of the request");
}

asio::awaitable<Message> ControlSession::answerChecksums(Message request) {
  const auto ranges = request.find("ranges");
  if (ranges == request.end() || !ranges->is_array() || ranges->size() > kMaxRangesPerRequest) {
    co_return malformed("checksums needs an array of ranges");
  }
  Message checksums = Message::array();
  for (const Message& range : *ranges) {
    if (!range.is_array() || range.size() != 2 || !range[0].is_number_unsigned() || !range[1].is_number_unsigned()) {
      co_return malformed("a range is [address, length]");
    }
    auto reader = handlers_->begin_checksum(range[0].get<uint64_t>(), range[1].get<uint64_t>());
    if (!reader) co_return errorMessage(reader.error());
    uint64_t checksum = 0;
    while (true) {
      const tl::expected<bool, Error> done = (*reader)(checksum);
      if (!done) co_return errorMessage(done.error());
      if (*done) break;
      co_await asio::post(loop_.context(), asio::use_awaitable);  // others in between
      if (!stream_.isOpen()) co_return malformed("the connection has ended");
    }
    checksums.push_back(checksum);
  }
  co_return Message{{"checksums", std::move(checksums)}};
}

asio::awaitable<Message> ControlSession::answerStaging(Message request) {
  if (guest_ == nullptr) guest_ = handlers_->admit_to_staging();
  Message reply = co_await guest_->answer(std::move(request));
  co_return reply;
}

}  // namespace tent
