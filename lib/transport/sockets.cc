#include "transport/sockets.h"

#include <algorithm>
#include <cerrno>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/system_calls.h"
#include "base/system_error.h"

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

Error errorOfSocket(Reason otherwise, std::string_view what, const std::error_code& code) {
  if (code.category() == asio::error::get_system_category()) return errorOfSystem(otherwise, what, code.value());
  return errorOf(otherwise, fmt::format("{}: {}", what, code.message()));
}

tl::expected<std::vector<tcp::endpoint>, std::error_code> findEndpoints(const std::string& host, uint16_t port) {
  std::error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (!error) return std::vector<tcp::endpoint>{{address, port}};
  asio::io_context context;
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::address_configured, error);
  if (!error && !found.empty()) return std::vector<tcp::endpoint>(found.begin(), found.end());
  // The C library does not say when it could not ask for want of a descriptor.
  const Fd probe(newSocket(tcp::v4()));
  if (!probe) error.assign(errno, asio::error::get_system_category());
  return tl::unexpected(error ? error : std::error_code(asio::error::host_not_found));
}

void tune(tcp::socket& socket, uint64_t silence_ns) {
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
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, seconds * 1000);
}

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

ssize_t sendSome(int socket, const void* from, size_t bytes) {
  iovec piece{const_cast<void*>(from), bytes};  // NOLINT(*-const-cast): it is only read
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  ssize_t sent = 0;
  do {
    sent = systemCalls().sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t receiveSome(int socket, void* into, size_t bytes) {
  iovec piece{into, bytes};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  ssize_t got = 0;
  do {
    got = systemCalls().recvmsg(socket, &message, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace tent
