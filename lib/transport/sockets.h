// TCP sockets as this project wants them: not inherited by the processes that the application starts, which would keep
// a peer from seeing the end of a connection and a port taken.
//
// Thread safety: as the sockets, which belong to the loop's thread.
#pragma once

#include <system_error>

#include <asio/ip/tcp.hpp>

namespace tent {

// Opens one for connecting; instead of its open, which leaves it inheritable.
void openSocket(asio::ip::tcp::socket& socket, const asio::ip::tcp& protocol, std::error_code& error);

// Opens `acceptor` and listens. What failed is in `error`.
void listenAt(asio::ip::tcp::acceptor& acceptor, const asio::ip::tcp::endpoint& endpoint, std::error_code& error);

// Takes one connection into `socket`; asio::error::would_block when none waits.
void acceptSocket(asio::ip::tcp::acceptor& acceptor, asio::ip::tcp::socket& socket, std::error_code& error);

}  // namespace tent
