// Frames and pauses on the control loop. Private to lib/engine; only the two ends of the control channel include it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "engine/wire.h"

namespace tent {

inline constexpr uint64_t kAcceptPauseNs = 50'000'000;

// The text of the next frame. Throws std::system_error when the stream ends, message_size when it is over `limit`.
inline asio::awaitable<std::string> readFrame(asio::ip::tcp::socket& socket, size_t limit) {
  constexpr size_t kStepBytes = 65536;  // memory grows with what has come, not with what was announced
  unsigned char head[kFrameHeadBytes];
  co_await asio::async_read(socket, asio::buffer(head), asio::use_awaitable);
  const size_t length = lengthOfFrame(head);
  if (length > limit) throw std::system_error(asio::error::message_size);
  std::string text;
  while (text.size() < length) {
    const size_t have = text.size();
    text.resize(std::min(length, have + kStepBytes));
    co_await asio::async_read(socket, asio::buffer(text.data() + have, text.size() - have), asio::use_awaitable);
  }
  co_return text;
}

inline asio::awaitable<void> pause(asio::io_context& context, uint64_t ns) {
  asio::steady_timer timer(context, std::chrono::nanoseconds(ns));
  co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace tent
