#include "transport/sockets.h"

#include <cerrno>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <doctest/doctest.h>
#include <asio/io_context.hpp>

namespace tent {
namespace {

using asio::ip::tcp;

int optionOf(tcp::socket& socket, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  REQUIRE(getsockopt(socket.native_handle(), level, option, &value, &size) == 0);
  return value;
}

}  // namespace

TEST_CASE("what has run out is told as that, other failures as their place says") {
  const std::error_code exhausted(EMFILE, asio::error::get_system_category());
  const Error told = errorOfSocket(Reason::kPeerUnreachable, "cannot connect", exhausted);
  CHECK(told.reason == Reason::kResourceExhausted);
  CHECK(told.detail.find("ulimit -n") != std::string::npos);
  CHECK(errorOfSocket(Reason::kPeerUnreachable, "", asio::error::connection_refused).reason ==
        Reason::kPeerUnreachable);
  // The same number, of another category.
  const std::error_code other(EMFILE, asio::error::get_addrinfo_category());
  CHECK(errorOfSocket(Reason::kIoError, "", other).reason == Reason::kIoError);
}

TEST_CASE("a numeric address is its one endpoint, a name has some, and what is none has none") {
  for (const char* const numeric : {"127.0.0.1", "::1", "0.0.0.0"}) {
    const auto found = findEndpoints(numeric, 4711);
    REQUIRE(found);
    CHECK(found->size() == 1);
    CHECK(found->front() == tcp::endpoint(asio::ip::make_address(numeric), 4711));
  }
  const auto named = findEndpoints("localhost", 4711);
  REQUIRE(named);
  CHECK(named->front().address().is_loopback());
  CHECK_FALSE(findEndpoints("nobody.invalid", 4711));
}

TEST_CASE("a connection ends in time when its other end has gone, whether something is under way or not") {
  asio::io_context context;
  tcp::socket socket(context);
  std::error_code error;
  openSocket(socket, tcp::v4(), error);
  REQUIRE_FALSE(error);
  for (const int seconds : {2, 10, 60}) {
    tune(socket, static_cast<uint64_t>(seconds) * 1'000'000'000);
    CHECK(optionOf(socket, IPPROTO_TCP, TCP_NODELAY) == 1);
    CHECK(optionOf(socket, SOL_SOCKET, SO_KEEPALIVE) == 1);
    CHECK(optionOf(socket, IPPROTO_TCP, TCP_USER_TIMEOUT) == seconds * 1000);
    CHECK(optionOf(socket, IPPROTO_TCP, TCP_KEEPIDLE) <= seconds);
  }
  tune(socket, 1);
  CHECK(optionOf(socket, IPPROTO_TCP, TCP_USER_TIMEOUT) == 2000);
}

TEST_CASE("bytes pass as they are, and a peer that has gone is an error, not a signal") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  char byte = 0;
  CHECK(receiveSome(ends[1], &byte, 1) == -1);
  CHECK(errno == EAGAIN);
  CHECK(sendSome(ends[0], "x", 1) == 1);
  CHECK(receiveSome(ends[1], &byte, 1) == 1);
  CHECK(byte == 'x');
  close(ends[1]);
  CHECK(sendSome(ends[0], "x", 1) == -1);
  CHECK(errno == EPIPE);
  close(ends[0]);
}

}  // namespace tent
