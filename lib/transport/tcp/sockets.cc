#include "transport/tcp/sockets.h"

#include <algorithm>

#include <netinet/tcp.h>
#include <sys/socket.h>

namespace tent::tcp {

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
