#include "inventory/gid.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace tent;

namespace {

GidAddress gid(std::string_view text) {
  const std::optional<GidAddress> address = parseGid(text);
  REQUIRE_MESSAGE(address.has_value(), text);
  return *address;
}

}  // namespace

TEST_CASE("a GID is read in any textual form and written in the shortest") {
  struct {
    std::string_view read;
    std::string_view written;
    std::string_view described;
  } const cases[] = {
      {"0000:0000:0000:0000:0000:ffff:0a00:010d", "::ffff:10.0.1.13", "10.0.1.13"},
      {"::ffff:10.0.1.13", "::ffff:10.0.1.13", "10.0.1.13"},
      {"::FFFF:255.255.255.255", "::ffff:255.255.255.255", "255.255.255.255"},
      {"fe80:0000:0000:0000:ba3f:d2ff:fe12:3456", "fe80::ba3f:d2ff:fe12:3456", "fe80::ba3f:d2ff:fe12:3456"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1", "2001:db8::1:0:0:1"},
      {"0000:0000:0000:0000:0000:0000:0000:0000", "::", "::"},
  };
  for (const auto& [read, written, described] : cases) {
    CAPTURE(read);
    CHECK(toString(gid(read)) == written);
    CHECK(describe(gid(read)) == described);
    CHECK(gid(written) == gid(read));
  }
}

TEST_CASE("text that is no IPv6 address is no GID") {
  for (std::string_view text : {"", "10.0.1.13", "fe80::1%eth0", "fe80::1/64", " fe80::1", "fe80::1\n", "fe80:::1",
                                "g::1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::ffff:10.0.1.256", "mlx5_0"}) {
    CAPTURE(text);
    CHECK_FALSE(parseGid(text).has_value());
  }
  CHECK_FALSE(parseGid(std::string_view("fe80::1\0x", 9)).has_value());
  CHECK_FALSE(parseGid(std::string(100000, '1')).has_value());
}

TEST_CASE("the class of a GID says how far it reaches") {
  struct {
    std::string_view text;
    GidClass gid_class;
    AddressFamily family;
  } const cases[] = {
      {"::", GidClass::kNull, AddressFamily::kIpv6},
      {"fe80::", GidClass::kNull, AddressFamily::kIpv6},  // how drivers fill entries that are not in use
      {"fe80::1", GidClass::kLinkLocal, AddressFamily::kIpv6},
      {"febf:ffff::1", GidClass::kLinkLocal, AddressFamily::kIpv6},
      {"fec0::1", GidClass::kRoutableIpv6, AddressFamily::kIpv6},
      {"fe7f::1", GidClass::kRoutableIpv6, AddressFamily::kIpv6},
      {"fd00:10::1", GidClass::kRoutableIpv6, AddressFamily::kIpv6},
      {"2001:db8::1", GidClass::kRoutableIpv6, AddressFamily::kIpv6},
      {"::10.0.1.13", GidClass::kRoutableIpv6, AddressFamily::kIpv6},  // compatible, not mapped
      {"::ffff:10.0.1.13", GidClass::kIpv4Mapped, AddressFamily::kIpv4},
      {"::ffff:169.253.255.255", GidClass::kIpv4Mapped, AddressFamily::kIpv4},
      {"::ffff:169.254.0.1", GidClass::kLinkLocal, AddressFamily::kIpv4},
      {"::ffff:169.255.0.1", GidClass::kIpv4Mapped, AddressFamily::kIpv4},
  };
  for (const auto& [text, gid_class, family] : cases) {
    CAPTURE(text);
    CHECK(classOf(gid(text)) == gid_class);
    CHECK(familyOf(gid(text)) == family);
  }
}

TEST_CASE("only a RoCE v2 GID with a routable address is used unasked") {
  const auto routable = [](GidType type, std::string_view text) { return isRoutableRoce({0, gid(text), type, ""}); };
  CHECK(routable(GidType::kRoceV2, "::ffff:10.0.1.13"));
  CHECK(routable(GidType::kRoceV2, "2001:db8::1"));
  CHECK_FALSE(routable(GidType::kRoceV2, "fe80::1"));
  CHECK_FALSE(routable(GidType::kRoceV2, "::ffff:169.254.3.4"));
  CHECK_FALSE(routable(GidType::kRoceV2, "::"));
  CHECK_FALSE(routable(GidType::kRoceV1, "::ffff:10.0.1.13"));
  CHECK_FALSE(routable(GidType::kIb, "::ffff:10.0.1.13"));
}

TEST_CASE("GID types are named in files and described to people") {
  for (GidType type : {GidType::kIb, GidType::kRoceV1, GidType::kRoceV2}) CHECK(gidTypeOfName(nameOf(type)) == type);
  CHECK(nameOf(GidType::kRoceV2) == "roce_v2");
  CHECK(describe(GidType::kRoceV2) == "RoCE v2");
  for (std::string_view name : {"", "RoCE v2", "ROCE_V2", "roce_v3", "roce"})
    CHECK_FALSE(gidTypeOfName(name).has_value());
}
