// One end of a control connection: frames (engine/wire.h) in TLS 1.3 with the token's key, or plain where there is none
// on purpose. An end that has a token and one that has none tell so, each in the other's words, and part.
//
// Thread safety: the control loop's thread only. A stream that is closed while a member waits ends that with
// operation_aborted; the stream must be there until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include "engine/control_security.h"
#include "transport/loop.h"
#include "transport/tls.h"

namespace tent {

// The two ends do not agree about the token.
class AuthMismatch : public std::exception {
 public:
  enum class Kind : uint8_t {
    kOtherToken,    // it has another one, or speaks another version of the protocol
    kPeerIsOpen,    // this end has a token, the other does not speak TLS
    kPeerHasToken,  // this end has none, the other speaks TLS
  };
  explicit AuthMismatch(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }
  const char* what() const noexcept override { return "the ends of a control connection do not agree about the token"; }

 private:
  const Kind kind_;
};

// Members that wait throw std::system_error when the connection or the stream ends, and when the other end speaks
// nonsense (invalid_argument, message_size).
class ControlStream {
 public:
  enum class Role : uint8_t { kClient, kServer };

  ControlStream(Loop& loop, std::shared_ptr<const ControlSecurity> security, Role role);

  asio::ip::tcp::socket& socket() { return socket_; }
  bool isOpen() const { return socket_.is_open(); }
  void close();

  // Once the socket is connected: proves to the other end that this one has the token, and has it proved. Nothing
  // where there is none. Throws AuthMismatch.
  asio::awaitable<void> handshake();

  // The length of the next frame's text, once it has begun. Throws AuthMismatch as the first of a connection.
  asio::awaitable<size_t> readHead(size_t limit);
  // That text. The memory for it grows with what has come, not with what was announced.
  asio::awaitable<std::string> readText(size_t length);
  asio::awaitable<void> write(std::string_view frame);

  // What is left to do after an AuthMismatch: tells the other end so in its words, and reads what it may still send, so
  // that what was told is not lost. Until the other end hangs up: to be limited by the caller.
  asio::awaitable<void> refuse(AuthMismatch::Kind kind);

 private:
  asio::awaitable<void> readAll(void* into, size_t bytes);
  // Until the socket is ready for it. Throws where it has ended or failed.
  asio::awaitable<void> await(TlsStatus status);
  int openDescriptor();

  const std::shared_ptr<const ControlSecurity> security_;
  const Role role_;
  asio::ip::tcp::socket socket_;
  std::optional<TlsSession> tls_;
  bool begun_ = false;  // a frame has come
  char first_ = 0;      // of the text that is to be read
};

// After that a connection ends whose other end's machine has gone without a word.
inline constexpr uint64_t kControlSilenceNs = 60'000'000'000;
inline constexpr uint64_t kAcceptPauseNs = 50'000'000;
asio::awaitable<void> pause(Loop& loop, uint64_t ns);

}  // namespace tent
