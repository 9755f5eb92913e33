#include "conformance/memory.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tent::conformance {

void fillPattern(std::byte* memory, uint64_t bytes, uint64_t seed) {
  for (uint64_t at = 0; at < bytes; at += 8) {
    // splitmix64
    uint64_t word = (seed << 32) + at + 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    word ^= word >> 31;
    std::memcpy(memory + at, &word, std::min<uint64_t>(8, bytes - at));
  }
}

uint64_t checksumOf(const std::byte* memory, uint64_t bytes) {
  return XXH3_64bits(memory, bytes);
}

bool sameBytes(const std::byte* left, const std::byte* right, uint64_t bytes) {
  return std::memcmp(left, right, bytes) == 0;
}

}  // namespace tent::conformance
