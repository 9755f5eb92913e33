// RDMA port addresses (GIDs): their types, their text, and whether one may be chosen without being asked for.
//
// On RoCE the usual right one is RoCE v2 with the interface's IPv4-mapped address, then a routable IPv6 address. RoCE
// v1 and link-local addresses do not cross a router and are never chosen in silence; only an explicit gid_index takes
// them. Both ends must be of one address family. On InfiniBand any GID but a null one serves. The choice itself,
// between the NICs of two hosts, is plan/nic_choice.h.
//
// Thread safety: values; all functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tent {

enum class GidType : uint8_t { kIb, kRoceV1, kRoceV2 };
std::string_view nameOf(GidType type);    // "ib", "roce_v1", "roce_v2"
std::string_view describe(GidType type);  // for people: "InfiniBand", "RoCE v1", "RoCE v2"
std::optional<GidType> gidTypeOfName(std::string_view name);

using GidAddress = std::array<uint8_t, 16>;

enum class GidClass : uint8_t { kNull, kLinkLocal, kIpv4Mapped, kRoutableIpv6 };
std::string_view describe(GidClass gid_class);  // for people: "null", "link-local", "IPv4-mapped", "routable IPv6"

// Null: all zero, or the bare link-local prefix fe80::, with which drivers fill the entries of a table that are not in
// use. Link-local: fe80::/10, and the IPv4-mapped addresses of 169.254.0.0/16, which cross a router as little.
GidClass classOf(const GidAddress& address);

enum class AddressFamily : uint8_t { kIpv4, kIpv6 };
std::string_view describe(AddressFamily family);  // for people: "IPv4", "IPv6"
AddressFamily familyOf(const GidAddress& address);

struct Gid {
  int index = 0;
  GidAddress address{};
  GidType type = GidType::kRoceV2;
  std::string interface;  // the network interface behind it; "" unknown
};

// May be used on an Ethernet port without an explicit gid_index: RoCE v2 with a routable address.
bool isRoutableRoce(const Gid& gid);

// Any textual IPv6 address ("::ffff:10.0.0.1", "fe80::1"), as inet_pton reads it; nothing for any other text.
std::optional<GidAddress> parseGid(std::string_view text);
// IPv4-mapped addresses as "::ffff:a.b.c.d", others compressed as inet_ntop writes them.
std::string toString(const GidAddress& address);
// The same for sentences: an IPv4-mapped address as "a.b.c.d".
std::string describe(const GidAddress& address);

}  // namespace tent
