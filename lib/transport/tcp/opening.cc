#include "transport/tcp/opening.h"

#include <cerrno>
#include <utility>

#include <asio/error.hpp>

namespace tent::tcp {
namespace {

template <typename Next>
void waitFor(Stream& stream, Socket::wait_type what, OpeningDone done, Next next) {
  stream.socket.async_wait(what, [&stream, done = std::move(done), next](std::error_code error) mutable {
    // Closed after it had become ready: the descriptor may be another's by now.
    if (!error && !stream.socket.is_open()) error = asio::error::operation_aborted;
    error ? done(error) : next(std::move(done));
  });
}

std::error_code errorOfErrno() {
  return {errno, asio::error::get_system_category()};
}

}  // namespace

void shakeHands(Stream& stream, OpeningDone done) {
  switch (const TlsStatus status = stream.encryption->handshake()) {
    case TlsStatus::kDone: return done({});
    case TlsStatus::kEnded: return done(asio::error::eof);
    case TlsStatus::kFailed:
      return done(stream.encryption->refused() ? std::error_code(asio::error::access_denied)
                                               : std::error_code(asio::error::connection_aborted));
    default:
      return waitFor(stream, status == TlsStatus::kWantRead ? Socket::wait_read : Socket::wait_write, std::move(done),
                     [&stream](OpeningDone again) { shakeHands(stream, std::move(again)); });
  }
}

void sendAll(Stream& stream, std::span<const std::byte> bytes, OpeningDone done) {
  while (!bytes.empty()) {
    iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT(*-const-cast): it is only read
    const ssize_t sent = stream.channel().send({&piece, 1});
    if (sent < 0 && errno == EAGAIN) {
      return waitFor(stream, Socket::wait_write, std::move(done),
                     [&stream, bytes](OpeningDone again) { sendAll(stream, bytes, std::move(again)); });
    }
    if (sent < 0) return done(errorOfErrno());
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  done({});
}

void receiveAll(Stream& stream, std::span<std::byte> into, OpeningDone done) {
  while (!into.empty()) {
    iovec piece{into.data(), into.size()};
    const Received received = stream.channel().receive({&piece, 1}, into.size());
    if (received.bytes == 0) return done(asio::error::eof);
    if (received.bytes < 0 && errno == EAGAIN) {
      return waitFor(stream, Socket::wait_read, std::move(done),
                     [&stream, into](OpeningDone again) { receiveAll(stream, into, std::move(again)); });
    }
    if (received.bytes < 0) return done(errorOfErrno());
    into = into.subspan(static_cast<size_t>(received.bytes));
  }
  done({});
}

}  // namespace tent::tcp
