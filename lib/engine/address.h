// "host:port" and "[v6]:port", the names of segments. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tent {

struct HostPort {
  std::string host;  // a name, an IPv4 address, or an IPv6 address without its brackets
  uint16_t port = 0;
};

// Nothing when it is none: no host, no port, a port over 65535.
std::optional<HostPort> parseAddress(std::string_view text);
std::string formatAddress(std::string_view host, uint16_t port);

}  // namespace tent
