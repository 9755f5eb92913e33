// TCP sockets as this project wants them: not inherited by the processes that the application starts, which would keep
// a peer from seeing the end of a connection and a port taken.
//
// Thread safety: as the sockets, which belong to the loop's thread; the functions without one from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <sys/types.h>

#include <asio/ip/tcp.hpp>
#include <tl/expected.hpp>

#include "base/error.h"

namespace tent {

// "WHAT: " and what the code says. resource_exhausted where descriptors or memory have run out, else `otherwise`.
Error errorOfSocket(Reason otherwise, std::string_view what, const std::error_code& code);

// The endpoints of a host, at least one. A numeric address is taken as it is; a name is looked up by the calling
// thread, which blocks for as long as the resolver's configuration lets it.
tl::expected<std::vector<asio::ip::tcp::endpoint>, std::error_code> findEndpoints(const std::string& host,
                                                                                  uint16_t port);

// Of a connected socket. Small messages go at once, and a peer whose machine or network has gone, without a word, ends
// the connection after about `silence_ns` (two seconds at least): when nothing is under way by probes, when something
// was sent because it is not acknowledged. So does a peer that takes nothing of what is sent to it for that long. Best
// effort.
void tune(asio::ip::tcp::socket& socket, uint64_t silence_ns);

// Opens one for connecting; instead of its open, which leaves it inheritable.
void openSocket(asio::ip::tcp::socket& socket, const asio::ip::tcp& protocol, std::error_code& error);

// Opens `acceptor` and listens. What failed is in `error`.
void listenAt(asio::ip::tcp::acceptor& acceptor, const asio::ip::tcp::endpoint& endpoint, std::error_code& error);

// As send and recv, through the seam: an interruption is not seen, EAGAIN where they would wait, no signal.
ssize_t sendSome(int socket, const void* from, size_t bytes);
ssize_t receiveSome(int socket, void* into, size_t bytes);

// Takes one connection into `socket`; asio::error::would_block when none waits.
void acceptSocket(asio::ip::tcp::acceptor& acceptor, asio::ip::tcp::socket& socket, std::error_code& error);

}  // namespace tent
