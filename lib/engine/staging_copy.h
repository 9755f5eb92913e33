// A copy between the memory of an application and a staging buffer, a bounded piece a call, so that other copies of the
// thread have their turns.
//
// Thread safety: none; a copy belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tent {

class StagingCopy {
 public:
  enum class Into : uint8_t { kBuffer, kMemory };
  enum class Step : uint8_t { kMore, kDone, kNotMapped };

  StagingCopy() = default;
  // Both stay there until the last piece was copied. `may_be_unmapped`: the memory is not registered; what is not
  // mapped of it, or not for this, ends the copy with kNotMapped.
  StagingCopy(Into into, std::byte* memory, std::byte* buffer, uint64_t length, bool may_be_unmapped)
      : into_(into), memory_(memory), buffer_(buffer), left_(length), may_be_unmapped_(may_be_unmapped) {}

  Step step();

 private:
  Into into_ = Into::kBuffer;
  std::byte* memory_ = nullptr;
  std::byte* buffer_ = nullptr;
  uint64_t left_ = 0;
  bool may_be_unmapped_ = false;
};

}  // namespace tent
