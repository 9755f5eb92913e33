// The time at which the tests of this folder normalize.
#pragma once

#include <cstdint>

namespace tent {

inline constexpr uint64_t kNow = 1'000'000'000;

}  // namespace tent
