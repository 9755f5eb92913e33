// The bytes that are moved, and how two sides agree that they are the same. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace tent::tool {

// Fills with bytes that look random and depend on `seed` alone.
void fillPattern(std::span<std::byte> memory, uint64_t seed);

// Makes every byte another one.
void invert(std::span<std::byte> memory);

// Up to so many bytes, two patterns are alike often enough that it has to be looked at.
inline constexpr uint64_t kOftenAlike = 8;

// What is wrong when the bytes that arrived are not those that were sent, both told by their checksums.
Error compareChecksums(uint64_t sent, uint64_t arrived);

}  // namespace tent::tool
