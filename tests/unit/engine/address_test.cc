#include "engine/address.h"

#include <doctest/doctest.h>

namespace tent {

TEST_CASE("a segment's name is a host and a port") {
  const auto name = parseAddress("node-b:4711");
  REQUIRE(name);
  CHECK(name->host == "node-b");
  CHECK(name->port == 4711);
  CHECK(formatAddress(name->host, name->port) == "node-b:4711");
}

TEST_CASE("an IPv6 address stands in brackets") {
  const auto name = parseAddress("[fe80::1]:80");
  REQUIRE(name);
  CHECK(name->host == "fe80::1");
  CHECK(formatAddress(name->host, name->port) == "[fe80::1]:80");
}

TEST_CASE("what is no host and port is refused") {
  for (const char* text : {"", "node-b", "node-b:", ":80", "node-b:65536", "node-b:8x", "node-b:-1", "fe80::1:80",
                           "[]:80", "node-b: 80"}) {
    CAPTURE(text);
    CHECK_FALSE(parseAddress(text));
  }
}

}  // namespace tent
