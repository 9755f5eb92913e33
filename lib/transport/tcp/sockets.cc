#include "transport/tcp/sockets.h"

#include <algorithm>
#include <cerrno>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/fd.h"

namespace tent::tcp {
namespace {

template <typename AsioSocket>
void adopt(AsioSocket& socket, const asio::ip::tcp& protocol, int made, std::error_code& error) {
  if (made < 0) {
    error.assign(errno, asio::error::get_system_category());
    return;
  }
  Fd fd(made);
  socket.assign(protocol, fd.get(), error);
  if (!error) fd.release();
}

int newSocket(const asio::ip::tcp& protocol) {
  return ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol.protocol());
}

}  // namespace

void openSocket(Socket& socket, const asio::ip::tcp& protocol, std::error_code& error) {
  adopt(socket, protocol, newSocket(protocol), error);
}

void listenAt(asio::ip::tcp::acceptor& acceptor, const asio::ip::tcp::endpoint& endpoint, std::error_code& error) {
  adopt(acceptor, endpoint.protocol(), newSocket(endpoint.protocol()), error);
  if (!error) acceptor.set_option(asio::ip::tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
}

void acceptSocket(asio::ip::tcp::acceptor& acceptor, Socket& socket, std::error_code& error) {
  const auto protocol = acceptor.local_endpoint(error).protocol();
  if (error) return;
  adopt(socket, protocol, ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), error);
}

void tune(Socket& socket, uint64_t silence_ns) {
  constexpr int kProbes = 3;
  const auto seconds = static_cast<int>(std::clamp<uint64_t>(silence_ns / 1'000'000'000, 2, 3600));
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket.native_handle(), level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, (seconds + 1) / 2);
  set(IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, seconds / 2 / kProbes));
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

}  // namespace tent::tcp
