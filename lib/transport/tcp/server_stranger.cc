#include "transport/tcp/server_stranger.h"

#include <chrono>
#include <span>
#include <utility>

#include <sys/socket.h>

#include "transport/tcp/opening.h"

namespace tent::tcp {
namespace {

constexpr auto kTimeLimit = std::chrono::seconds(2);
constexpr unsigned char kTlsHandshake = 0x16;  // what a record of one begins with, and kMagic does not

}  // namespace

template <typename Step>
auto ServerStranger::then(Step step) {
  return [self = shared_from_this(), step](const std::error_code& error) { error ? self->finish(false) : step(); };
}

void ServerStranger::start(Admits admits, std::function<void(const std::shared_ptr<ServerStranger>&, bool)> done) {
  admits_ = std::move(admits);
  done_ = std::move(done);
  timer_.expires_after(kTimeLimit);
  timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (!error) self->close();
  });
  stream_.socket.async_wait(Socket::wait_read, then([this] { begin(); }));
}

void ServerStranger::begin() {
  unsigned char first = 0;
  // Closed after it had become readable, or ended.
  if (!stream_.socket.is_open() || ::recv(stream_.socket.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) {
    return finish(false);
  }
  if (first != kTlsHandshake) return awaitHello();
  stream_.encryption = std::make_unique<Encryption>(encryption_, stream_.socket.native_handle());
  shakeHands(stream_, then([this] { awaitHello(); }));
}

void ServerStranger::awaitHello() {
  receiveAll(stream_, std::as_writable_bytes(std::span(&hello_, 1)), then([this] { judge(); }));
}

void ServerStranger::judge() {
  if (hello_.magic != kMagic) return finish(false);
  const bool admitted = hello_.version == kVersion && admits_(hello_.ticket, stream_.encryption != nullptr);
  welcome_.status = admitted ? Welcome::kAdmitted : Welcome::kRefused;
  sendAll(stream_, std::as_bytes(std::span(&welcome_, 1)), then([this, admitted] { finish(admitted); }));
}

void ServerStranger::close() {
  std::error_code ignored;
  stream_.socket.close(ignored);
}

void ServerStranger::finish(bool welcomed) {
  timer_.cancel();
  // The timer may have closed it in the meantime.
  const auto done = std::exchange(done_, nullptr);
  if (done != nullptr) done(shared_from_this(), welcomed && stream_.socket.is_open());
}

}  // namespace tent::tcp
