#include "engine/address.h"

#include <charconv>

#include <fmt/format.h>

namespace tent {

std::optional<HostPort> parseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  HostPort result;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  // An IPv6 address without brackets leaves open which colon is the port's.
  if (host.empty() || (!bracketed && host.find(':') != std::string_view::npos)) return std::nullopt;
  result.host = host;
  return result;
}

std::string formatAddress(std::string_view host, uint16_t port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port);
}

}  // namespace tent
