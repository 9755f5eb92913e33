// How much both ends of a connection do at a time.
#pragma once

#include <cstdint>

namespace tent::tcp {

inline constexpr uint64_t kBytesPerCall = 1u << 30;  // of the kernel, which moves 2 GiB at most
inline constexpr int kReadTurns = 64;                // then others on the loop have theirs

}  // namespace tent::tcp
