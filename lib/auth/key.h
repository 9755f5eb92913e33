// Keys made from a token, so that the token itself is used for nothing else. Thread safety: pure functions.
#pragma once

#include <array>
#include <string_view>

#include "auth/token.h"

namespace tent {

// Overwritten by whoever holds one, once it is not needed any more.
using DerivedKey = std::array<unsigned char, 32>;

// The key of a token for one purpose, by HKDF with SHA-256. Keys of different purposes tell nothing about each other.
// Throws std::runtime_error when OpenSSL lacks what it needs.
DerivedKey deriveKey(const Token& token, std::string_view purpose);

}  // namespace tent
