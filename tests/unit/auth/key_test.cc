#include "auth/key.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace tent {
namespace {

Token tokenOf(std::string_view hex) {
  const std::string bytes = fromHex(hex).value();
  return {std::vector<unsigned char>(bytes.begin(), bytes.end()), "token"};
}

std::string hexOf(const DerivedKey& key) {
  return toHex(std::string_view(reinterpret_cast<const char*>(key.data()), key.size()));
}

}  // namespace

TEST_CASE("keys are those of RFC 5869, with SHA-256 and without salt") {
  // Its test case 3 has no info; the first 32 bytes of its output.
  const Token token = tokenOf("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b");
  CHECK(hexOf(deriveKey(token, "")) == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
}

TEST_CASE("another token or another purpose gives another key") {
  const Token token = tokenOf("000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f");
  const Token other = tokenOf("000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0e");
  CHECK(deriveKey(token, "a") == deriveKey(token, "a"));
  CHECK(deriveKey(token, "a") != deriveKey(token, "b"));
  CHECK(deriveKey(token, "a") != deriveKey(other, "a"));
}

}  // namespace tent
