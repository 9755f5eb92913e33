#include "transport/tcp/server_stranger.h"

#include <chrono>
#include <utility>

#include <asio/read.hpp>
#include <asio/write.hpp>

namespace tent::tcp {
namespace {

constexpr auto kTimeLimit = std::chrono::seconds(2);

}  // namespace

void ServerStranger::start(std::function<bool(const Ticket&)> admits,
                           std::function<void(const std::shared_ptr<ServerStranger>&, bool)> done) {
  admits_ = std::move(admits);
  done_ = std::move(done);
  timer_.expires_after(kTimeLimit);
  timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (!error) self->close();
  });
  asio::async_read(socket_, asio::buffer(&hello_, sizeof hello_),
                   [self = shared_from_this()](const std::error_code& error, size_t /*bytes*/) {
                     error ? self->finish(false) : self->judge();
                   });
}

void ServerStranger::judge() {
  if (hello_.magic != kMagic) return finish(false);
  const bool admitted = hello_.version == kVersion && admits_(hello_.ticket);
  welcome_.status = admitted ? Welcome::kAdmitted : Welcome::kRefused;
  asio::async_write(socket_, asio::buffer(&welcome_, sizeof welcome_),
                    [self = shared_from_this(), admitted](const std::error_code& error, size_t) {
                      self->finish(!error && admitted);
                    });
}

void ServerStranger::close() {
  std::error_code ignored;
  socket_.close(ignored);
}

void ServerStranger::finish(bool welcomed) {
  timer_.cancel();
  // The timer may have closed it in the meantime.
  const auto done = std::exchange(done_, nullptr);
  done(shared_from_this(), welcomed && socket_.is_open());
}

}  // namespace tent::tcp
