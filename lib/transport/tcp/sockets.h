// TCP sockets as this transport wants them: not inherited by the processes that the application starts, which would
// keep a link's peer from seeing its end and a port taken.
//
// Thread safety: as the sockets, which belong to the loop's thread.
#pragma once

#include <cstdint>
#include <system_error>

#include <asio/ip/tcp.hpp>

namespace tent::tcp {

using Socket = asio::ip::tcp::socket;

// Opens one for connecting; instead of Socket::open, which leaves it inheritable.
void openSocket(Socket& socket, const asio::ip::tcp& protocol, std::error_code& error);

// Opens `acceptor` and listens. What failed is in `error`.
void listenAt(asio::ip::tcp::acceptor& acceptor, const asio::ip::tcp::endpoint& endpoint, std::error_code& error);

// Takes one connection into `socket`; asio::error::would_block when none waits.
void acceptSocket(asio::ip::tcp::acceptor& acceptor, Socket& socket, std::error_code& error);

// Small messages go at once, and a peer whose machine has gone is noticed within about `silence_ns` although nothing is
// under way. Best effort.
void tune(Socket& socket, uint64_t silence_ns);

}  // namespace tent::tcp
