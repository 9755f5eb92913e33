#include "tent-submit/pattern.h"

#include <cstring>

#include <fmt/format.h>

namespace tent::tool {

void fillPattern(std::span<std::byte> memory, uint64_t seed) {
  uint64_t state = seed;
  // splitmix64: each word depends on its place alone, so that the compiler may compute several at once.
  const auto next = [&state] {
    state += 0x9e3779b97f4a7c15u;
    uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
  };
  size_t at = 0;
  for (; memory.size() - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
    const uint64_t word = next();
    std::memcpy(memory.data() + at, &word, sizeof word);
  }
  if (at < memory.size()) {
    const uint64_t word = next();
    std::memcpy(memory.data() + at, &word, memory.size() - at);
  }
}

void invert(std::span<std::byte> memory) {
  for (std::byte& byte : memory) byte = ~byte;
}

Error compareChecksums(uint64_t sent, uint64_t arrived) {
  if (sent == arrived) return {};
  return errorOf(
      Reason::kIoError,
      fmt::format("the bytes at the destination are not those that were sent (XXH3-64 {:016x}, sent {:016x}); does "
                  "something else write to this range of the target?",
                  arrived, sent));
}

}  // namespace tent::tool
