// A target that the test plays itself.
#pragma once

#include <string>

#include "unit/transport/tcp/two_ends.h"

namespace tent {

class RawTarget {
 public:
  RawTarget() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(listener_.get(), 4) == 0);
    REQUIRE(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    answer_.port = ntohs(address.sin_port);
    answer_.tickets.resize(1);
  }

  std::string answer() const { return textOf(answer_); }
  // The next stream, once it has shown its ticket.
  Fd accept() const {
    Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    tcp::Hello hello;
    REQUIRE(receiveValue(fd, hello));
    return fd;
  }
  Fd welcome() const {
    Fd fd = accept();
    sendValue(fd, tcp::Welcome{});
    return fd;
  }

 private:
  Fd listener_;
  tcp::Answer answer_;
};

}  // namespace tent
