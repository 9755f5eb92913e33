#include "transport/sockets.h"

#include <cerrno>

#include <sys/socket.h>

#include "base/fd.h"

namespace tent {

using asio::ip::tcp;

namespace {

template <typename AsioSocket>
void adopt(AsioSocket& socket, const tcp& protocol, int made, std::error_code& error) {
  if (made < 0) {
    error.assign(errno, asio::error::get_system_category());
    return;
  }
  Fd fd(made);
  socket.assign(protocol, fd.get(), error);
  if (!error) fd.release();
}

int newSocket(const tcp& protocol) {
  return ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol.protocol());
}

}  // namespace

void openSocket(tcp::socket& socket, const tcp& protocol, std::error_code& error) {
  adopt(socket, protocol, newSocket(protocol), error);
}

void listenAt(tcp::acceptor& acceptor, const tcp::endpoint& endpoint, std::error_code& error) {
  adopt(acceptor, endpoint.protocol(), newSocket(endpoint.protocol()), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
}

void acceptSocket(tcp::acceptor& acceptor, tcp::socket& socket, std::error_code& error) {
  const auto protocol = acceptor.local_endpoint(error).protocol();
  if (error) return;
  adopt(socket, protocol, ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), error);
}

}  // namespace tent
