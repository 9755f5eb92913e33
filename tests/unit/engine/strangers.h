// Connections of those who have no token, by hand.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>

#include <doctest/doctest.h>

#include "base/clock.h"
#include "base/fd.h"
#include "support/loopback.h"

namespace tent {

inline bool say(const Fd& fd, std::string_view bytes) {
  return send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

struct Heard {
  std::string bytes;
  bool closed = false;
  uint64_t after_ns = 0;
};

// All that is said until the other end hangs up, for at most `limit_ms`.
inline Heard listenTo(const Fd& fd, int limit_ms = 10'000) {
  Heard heard;
  const uint64_t began_ns = monotonicNowNs();
  const auto passed_ms = [&] { return static_cast<int>((monotonicNowNs() - began_ns) / 1'000'000); };
  pollfd wait{fd.get(), POLLIN, 0};
  while (!heard.closed && passed_ms() < limit_ms && poll(&wait, 1, limit_ms - passed_ms()) > 0) {
    std::array<char, 4096> piece{};
    const ssize_t got = recv(fd.get(), piece.data(), piece.size(), 0);
    heard.closed = got <= 0;
    if (got > 0) heard.bytes.append(piece.data(), static_cast<size_t>(got));
  }
  heard.after_ns = monotonicNowNs() - began_ns;
  return heard;
}

// Whether it is nothing, or one alert of TLS.
inline bool isSilenceOrAlert(std::string_view bytes) {
  return bytes.empty() || (bytes.size() == 7 && bytes[0] == 0x15 && bytes[1] == 3 && bytes[4] == 2);
}

}  // namespace tent
