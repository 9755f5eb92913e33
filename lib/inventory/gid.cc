#include "inventory/gid.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

namespace tent {
namespace {

constexpr GidAddress kUnusedEntry = {0xfe, 0x80};
constexpr std::array<uint8_t, 12> kIpv4MappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::string_view nameOf(GidType type) {
  switch (type) {
    case GidType::kIb: return "ib";
    case GidType::kRoceV1: return "roce_v1";
    case GidType::kRoceV2: return "roce_v2";
  }
  return "";
}

std::string_view describe(GidType type) {
  switch (type) {
    case GidType::kIb: return "InfiniBand";
    case GidType::kRoceV1: return "RoCE v1";
    case GidType::kRoceV2: return "RoCE v2";
  }
  return "";
}

std::optional<GidType> gidTypeOfName(std::string_view name) {
  for (GidType type : {GidType::kIb, GidType::kRoceV1, GidType::kRoceV2}) {
    if (name == nameOf(type)) return type;
  }
  return std::nullopt;
}

std::string_view describe(GidClass gid_class) {
  switch (gid_class) {
    case GidClass::kNull: return "null";
    case GidClass::kLinkLocal: return "link-local";
    case GidClass::kIpv4Mapped: return "IPv4-mapped";
    case GidClass::kRoutableIpv6: return "routable IPv6";
  }
  return "";
}

GidClass classOf(const GidAddress& address) {
  if (address == GidAddress{} || address == kUnusedEntry) return GidClass::kNull;
  if (familyOf(address) == AddressFamily::kIpv4) {
    const bool link_local = address[12] == 169 && address[13] == 254;
    return link_local ? GidClass::kLinkLocal : GidClass::kIpv4Mapped;
  }
  const bool link_local = address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
  return link_local ? GidClass::kLinkLocal : GidClass::kRoutableIpv6;
}

std::string_view describe(AddressFamily family) {
  return family == AddressFamily::kIpv4 ? "IPv4" : "IPv6";
}

AddressFamily familyOf(const GidAddress& address) {
  const bool mapped = std::equal(kIpv4MappedPrefix.begin(), kIpv4MappedPrefix.end(), address.begin());
  return mapped ? AddressFamily::kIpv4 : AddressFamily::kIpv6;
}

bool isRoutableRoce(const Gid& gid) {
  const GidClass gid_class = classOf(gid.address);
  return gid.type == GidType::kRoceV2 && (gid_class == GidClass::kIpv4Mapped || gid_class == GidClass::kRoutableIpv6);
}

std::optional<GidAddress> parseGid(std::string_view text) {
  // inet_pton wants a C string, and would take what stands before a NUL for the whole.
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return std::nullopt;
  GidAddress address{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), address.data()) != 1) return std::nullopt;
  return address;
}

std::string toString(const GidAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(AF_INET6, address.data(), text.data(), text.size());
}

std::string describe(const GidAddress& address) {
  if (familyOf(address) == AddressFamily::kIpv6) return toString(address);
  std::array<char, INET_ADDRSTRLEN> text{};
  return inet_ntop(AF_INET, address.data() + kIpv4MappedPrefix.size(), text.data(), text.size());
}

}  // namespace tent
