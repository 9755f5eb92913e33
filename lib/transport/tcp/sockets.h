// The TCP sockets of this transport: transport/sockets.h opens them.
//
// Thread safety: as the sockets, which belong to the loop's thread.
#pragma once

#include <cstdint>

#include <asio/ip/tcp.hpp>

namespace tent::tcp {

using Socket = asio::ip::tcp::socket;

// Small messages go at once, and a peer whose machine has gone is noticed within about `silence_ns` although nothing is
// under way. Best effort.
void tune(Socket& socket, uint64_t silence_ns);

}  // namespace tent::tcp
