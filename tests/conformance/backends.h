// The backends that the contract is run over, made alike in both processes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "transport/backend.h"
#include "transport/loop.h"

namespace tent::conformance {

// Of doctest: one a backend, tcp and shm twice.
struct Kind {
  std::string_view suite;
  bool allocates = false;           // its targets allocate the memory they serve; else it is the application's
  bool target_counts = true;        // the target knows what its peers moved
  bool needs_target = true;         // to run: a target that stands still holds transfers up
  uint64_t largest = 256ull << 20;  // transfer, bytes
};

inline constexpr Kind kTcp{"tcp"};
inline constexpr Kind kTcpEncrypted{"tcp_encrypted"};
inline constexpr Kind kShmMapped{"shm_mapped", true, false, false};
inline constexpr Kind kShmCopied{"shm_copied", false, false, false};
inline constexpr Kind kFake{"fake", false, true, true, 8ull << 20};

struct Limits {
  uint64_t stall_ns = 10'000'000'000;    // tcp, fake: a peer on which nothing moves is lost after this
  uint64_t connect_ns = 10'000'000'000;  // tcp, shm
};

// The backend of this kind; exits when there is none.
std::unique_ptr<Backend> makeBackend(std::string_view suite, Loop& loop, const Limits& limits);

std::string hexOf(std::string_view bytes);  // "-" for none
std::string fromHex(std::string_view text);

}  // namespace tent::conformance
