// The memory of this process that transfers read from and write to: for each registration and location one block, which
// a wave divides among its transfers. Thread safety: none; belongs to the thread that runs a peer's
// waves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tl/expected.hpp>

#include "engine/engine.h"
#include "tent-submit/mapping.h"

namespace tent::tool {

class SourceMemory {
 public:
  // At least `bytes`, of which no peer may reach any. The block that was given before for the same registration and
  // location may be given again, or be gone: nothing may be in flight. resource_exhausted, registration_failed.
  tl::expected<std::byte*, Error> reserve(Engine& engine, Registration registration, const MemoryLocation& location,
                                          uint64_t bytes);

 private:
  struct Block {
    Registration registration = Registration::kApplication;
    MemoryLocation location;
    std::byte* base = nullptr;
    uint64_t bytes = 0;
    Mapping mapping;  // of application memory; outlives the engine, which may still read from it at its end
  };
  static Error grow(Engine& engine, Block& block, uint64_t bytes);

  std::vector<Block> blocks_;
};

}  // namespace tent::tool
