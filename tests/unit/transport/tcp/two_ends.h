// Two tcp backends in one process, each with a loop of its own, and raw sockets that speak to one of them.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "support/loopback.h"
#include "transport/tcp/tcp_backend.h"
#include "transport/tcp/wire.h"
#include "unit/transport/recorder.h"

namespace tent {

struct TwoEnds {
  explicit TwoEnds(TcpOptions options = {}, uint64_t bytes = 1u << 20) : TwoEnds(options, bytes, options) {}
  TwoEnds(TcpOptions options, uint64_t bytes, TcpOptions target_options)
      : remote(bytes),
        local(bytes),
        target(makeTcpBackend(target_loop, target_options).value()),
        initiator(makeTcpBackend(initiator_loop, options).value()) {
    region = {1, remote.data(), remote.size(), Access::kReadWrite, nullptr};
    target->registerRegion(region).value();
    link = initiator->connect(target->answer(initiator->offer()).value(), "127.0.0.1", recorder).value();
  }
  // Links and what is registered end before the memory does.
  ~TwoEnds() {
    link.reset();
    initiator->stop();
    target->stop();
  }

  Transfer transfer(Direction direction, uint64_t token, uint64_t offset, uint64_t length) {
    Transfer transfer;
    transfer.direction = direction;
    transfer.local = local.data() + offset;
    transfer.length = length;
    transfer.remote_address = reinterpret_cast<uintptr_t>(remote.data()) + offset;
    transfer.token = token;
    return transfer;
  }
  Completion run(const Transfer& transfer) {
    link->submit({&transfer, 1});
    return recorder->of(transfer.token);
  }

  std::vector<std::byte> remote;
  std::vector<std::byte> local;
  Region region;
  Loop target_loop{"target"};
  Loop initiator_loop{"initiator"};
  std::unique_ptr<Backend> target;
  std::unique_ptr<Backend> initiator;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  std::unique_ptr<Link> link;
};

template <typename T>
void sendValue(const Fd& fd, const T& value) {
  REQUIRE(send(fd.get(), &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value));
}

// False at the end of the stream.
template <typename T>
bool receiveValue(const Fd& fd, T& value) {
  return recv(fd.get(), &value, sizeof value, MSG_WAITALL) == static_cast<ssize_t>(sizeof value);
}

// What the target at this port says to a stream that shows the ticket.
inline uint32_t statusFor(uint16_t port, const Ticket& ticket) {
  const Fd fd = connectTo(port);
  tcp::Hello hello;
  hello.ticket = ticket;
  sendValue(fd, hello);
  tcp::Welcome welcome;
  REQUIRE(receiveValue(fd, welcome));
  return welcome.status;
}

// Waits until the other side has closed.
inline bool isClosed(const Fd& fd) {
  char byte = 0;
  ssize_t got = 0;
  while ((got = recv(fd.get(), &byte, 1, 0)) > 0) {
  }
  return got == 0 || errno == ECONNRESET;
}

// A stream that the target has let in.
inline Fd welcomed(Backend& target) {
  const tcp::Answer answer = tcp::parseAnswer(target.answer("1").value()).value();
  Fd fd = connectTo(answer.port);
  tcp::Hello hello;
  hello.ticket = answer.tickets[0];
  sendValue(fd, hello);
  tcp::Welcome welcome;
  REQUIRE(receiveValue(fd, welcome));
  return fd;
}

}  // namespace tent
