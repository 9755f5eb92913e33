#include "engine/control_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "engine/wire.h"
#include "transport/sockets.h"

namespace tent {
namespace {

constexpr size_t kStepBytes = 65536;
constexpr size_t kMaxDrainedBytes = 2u << 20;

[[noreturn]] void fail(const std::error_code& code) {
  throw std::system_error(code);
}

// What a call without TLS has done, as those of a session say it.
TlsMoved movedBy(ssize_t bytes, TlsStatus wanted) {
  if (bytes > 0) return {TlsStatus::kDone, static_cast<size_t>(bytes)};
  if (bytes < 0 && errno == EAGAIN) return {wanted, 0};
  return {bytes == 0 || errno == ECONNRESET ? TlsStatus::kEnded : TlsStatus::kFailed, 0};
}

// A text is a JSON object, so that what is no frame shows with its first bytes.
constexpr char kFirstOfText = '{';

}  // namespace

ControlStream::ControlStream(Loop& loop, std::shared_ptr<const ControlSecurity> security, Role role)
    : security_(std::move(security)), role_(role), socket_(loop.context()) {}

void ControlStream::close() {
  std::error_code ignored;
  socket_.close(ignored);
}

asio::awaitable<void> ControlStream::await(TlsStatus status) {
  using asio::ip::tcp;
  if (status == TlsStatus::kEnded) fail(asio::error::eof);
  if (status == TlsStatus::kFailed) fail(asio::error::connection_aborted);
  const auto direction = status == TlsStatus::kWantRead ? tcp::socket::wait_read : tcp::socket::wait_write;
  co_await socket_.async_wait(direction, asio::use_awaitable);
}

// A descriptor that was closed while its owner was busy with something else may be another's by now.
int ControlStream::openDescriptor() {
  if (!isOpen()) fail(asio::error::operation_aborted);
  return socket_.native_handle();
}

asio::awaitable<void> ControlStream::handshake() {
  begun_ = false;
  if (security_->isOpen()) co_return;
  tls_.emplace(role_ == Role::kClient ? *security_->client : *security_->server, openDescriptor());
  while (true) {
    openDescriptor();
    const TlsStatus status = tls_->handshake();
    if (status == TlsStatus::kDone) co_return;
    if (tls_->failure() == TlsFailure::kRefused) throw AuthMismatch(AuthMismatch::Kind::kOtherToken);
    if (tls_->failure() == TlsFailure::kNotTls) throw AuthMismatch(AuthMismatch::Kind::kPeerIsOpen);
    co_await await(status);
  }
}

asio::awaitable<void> ControlStream::readAll(void* into, size_t bytes) {
  for (size_t have = 0; have < bytes;) {
    const int socket = openDescriptor();
    char* const at = static_cast<char*>(into) + have;
    const TlsMoved moved =
        tls_ ? tls_->read(at, bytes - have) : movedBy(receiveSome(socket, at, bytes - have), TlsStatus::kWantRead);
    have += moved.bytes;
    if (moved.status != TlsStatus::kDone) co_await await(moved.status);
  }
}

asio::awaitable<size_t> ControlStream::readHead(size_t limit) {
  std::array<unsigned char, TlsSession::kRecordHeadBytes> bytes{};
  static_assert(TlsSession::kRecordHeadBytes == kFrameHeadBytes + 1);
  co_await readAll(bytes.data(), bytes.size());
  if (security_->isOpen() && !std::exchange(begun_, true) && TlsSession::isRecord(bytes)) {
    throw AuthMismatch(AuthMismatch::Kind::kPeerHasToken);
  }
  unsigned char head[kFrameHeadBytes];
  std::copy_n(bytes.begin(), kFrameHeadBytes, head);
  const size_t length = lengthOfFrame(head);
  first_ = static_cast<char>(bytes.back());
  if (length == 0 || first_ != kFirstOfText) fail(asio::error::invalid_argument);
  if (length > limit) fail(asio::error::message_size);
  co_return length;
}

asio::awaitable<std::string> ControlStream::readText(size_t length) {
  std::string text(1, first_);
  while (text.size() < length) {
    const size_t have = text.size();
    text.resize(std::min(length, have + kStepBytes));
    co_await readAll(text.data() + have, text.size() - have);
  }
  co_return text;
}

asio::awaitable<void> ControlStream::write(std::string_view frame) {
  while (!frame.empty()) {
    const int socket = openDescriptor();
    const TlsMoved moved = tls_ ? tls_->write(frame.data(), frame.size())
                                : movedBy(sendSome(socket, frame.data(), frame.size()), TlsStatus::kWantWrite);
    frame.remove_prefix(moved.bytes);
    if (moved.status != TlsStatus::kDone) co_await await(moved.status);
  }
}

asio::awaitable<void> ControlStream::refuse(AuthMismatch::Kind kind) {
  std::string words;  // of kOtherToken TLS has told already
  if (kind == AuthMismatch::Kind::kPeerIsOpen) words.assign(TlsSession::kAlert.begin(), TlsSession::kAlert.end());
  if (kind == AuthMismatch::Kind::kPeerHasToken) {
    words = frameOf(errorMessage(errorOf(Reason::kAuthFailed, "this engine has no token")));
  }
  tls_.reset();  // from here on as they are
  co_await write(words);
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send);
  std::array<char, 4096> dropped{};
  for (size_t bytes = 0; bytes < kMaxDrainedBytes;) {
    bytes += co_await socket_.async_read_some(asio::buffer(dropped), asio::use_awaitable);
  }
}

asio::awaitable<void> pause(Loop& loop, uint64_t ns) {
  asio::steady_timer timer(loop.context(), std::chrono::nanoseconds(ns));
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace tent
