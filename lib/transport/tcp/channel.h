// How the bytes of a stream pass its socket: as they are, or in TLS.
//
// In TLS they pass through buffers of this side's, and between those and the memory of transfers by way of the kernel,
// so that memory which is not mapped is an error here too. Records are encrypted by the thread that sends, and opened
// on the loop's.
//
// Thread safety: a Channel is a value; of an Encryption send, and receive, may run at once in two threads.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <sys/types.h>
#include <sys/uio.h>

#include <asio/ip/tcp.hpp>

#include "transport/tls.h"

namespace tent::tcp {

using Socket = asio::ip::tcp::socket;

struct Received {
  ssize_t bytes = 0;     // 0: the peer has closed the connection; -1: errno says why, EAGAIN when nothing is there
  bool drained = false;  // nothing more was there
};

// Of one connected socket.
class Encryption {
 public:
  Encryption(std::shared_ptr<const TlsContext> context, int socket);

  TlsStatus handshake() { return session_.handshake(); }
  bool refused() const { return session_.failure() != TlsFailure::kNone && session_.failure() != TlsFailure::kBroken; }

  // As sendmsg does: how many bytes have gone, or -1 and errno. After EAGAIN the same bytes come again, or more.
  ssize_t send(std::span<const iovec> pieces);
  Received receive(std::span<const iovec> pieces);

 private:
  const std::shared_ptr<const TlsContext> context_;
  std::mutex mutex_;
  TlsSession session_;
  std::vector<std::byte> outgoing_;
  std::vector<std::byte> incoming_;
};

class Channel {
 public:
  // Neither is taken.
  Channel(int socket, Encryption* encryption = nullptr)
      : socket_(socket), encryption_(encryption) {}  // NOLINT(*-explicit-*)

  ssize_t send(std::span<iovec> pieces) const;
  // `wanted`: the bytes of all pieces.
  Received receive(std::span<iovec> pieces, uint64_t wanted) const;

 private:
  int socket_;
  Encryption* encryption_;
};

// A socket with what it speaks.
struct Stream {
  Socket socket;
  std::unique_ptr<Encryption> encryption;  // nullptr: as they are

  Channel channel() { return {socket.native_handle(), encryption.get()}; }
};

}  // namespace tent::tcp
