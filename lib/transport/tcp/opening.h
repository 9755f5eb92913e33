// The steps that open a stream: a handshake where it is encrypted, and fixed numbers of bytes one way and the other.
//
// All of it runs on the loop's thread. `done` is called once, later or at once, with an error when the connection ended
// (eof), when the other end has not the key that it must have (access_denied), or when the socket was closed here
// (operation_aborted); it must keep the stream until then.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <system_error>

#include "transport/tcp/channel.h"

namespace tent::tcp {

using OpeningDone = std::function<void(const std::error_code& error)>;

void shakeHands(Stream& stream, OpeningDone done);
void sendAll(Stream& stream, std::span<const std::byte> bytes, OpeningDone done);
void receiveAll(Stream& stream, std::span<std::byte> into, OpeningDone done);

}  // namespace tent::tcp
