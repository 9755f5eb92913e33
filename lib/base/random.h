// Random bytes of the kernel, good for secrets. Thread safety: any thread.
#pragma once

#include <cstddef>
#include <span>

namespace tent {

// Fills all of `into`. Does not fail: a kernel without getrandom ends the process, as nothing secret can be made there.
void fillRandom(std::span<std::byte> into);

template <typename Value>
Value randomValue() {
  Value value{};
  fillRandom(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace tent
