// Patterns and checksums, compiled optimized in every build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tent::conformance {

inline constexpr uint64_t kMiB = 1u << 20;

// Fills with what `seed` gives, without repetition.
void fillPattern(std::byte* memory, uint64_t bytes, uint64_t seed);
uint64_t checksumOf(const std::byte* memory, uint64_t bytes);  // XXH3-64
bool sameBytes(const std::byte* left, const std::byte* right, uint64_t bytes);

}  // namespace tent::conformance
