#include "engine/staging_copy.h"

#include <algorithm>
#include <cstring>

#include "transport/checked_copy.h"

namespace tent {
namespace {

constexpr uint64_t kCopyPieceBytes = 1u << 20;  // about a tenth of a millisecond

}  // namespace

StagingCopy::Step StagingCopy::step() {
  const uint64_t piece = std::min(left_, kCopyPieceBytes);
  const bool into_memory = into_ == Into::kMemory;
  if (may_be_unmapped_) {
    const uint64_t copied =
        into_memory ? copyToUnknown(memory_, buffer_, piece) : copyFromUnknown(buffer_, memory_, piece);
    if (copied < piece) return Step::kNotMapped;
  } else {
    std::memcpy(into_memory ? memory_ : buffer_, into_memory ? buffer_ : memory_, piece);
  }
  memory_ += piece;
  buffer_ += piece;
  left_ -= piece;
  return left_ > 0 ? Step::kMore : Step::kDone;
}

}  // namespace tent
