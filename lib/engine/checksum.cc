#include "engine/checksum.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tent {
namespace {

constexpr uint64_t kPieceBytes = 8u << 20;  // about a millisecond

}  // namespace

uint64_t checksumOf(std::span<const std::byte> memory) {
  return XXH3_64bits(memory.data(), memory.size());
}

struct ChecksumReader::State {
  XXH3_state_t xxh3;
};

ChecksumReader::ChecksumReader(const std::byte* data, uint64_t length)
    : at_(data), left_(length), state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}

ChecksumReader::~ChecksumReader() = default;

bool ChecksumReader::step(uint64_t& checksum) {
  const uint64_t piece = std::min(left_, kPieceBytes);
  XXH3_64bits_update(&state_->xxh3, at_, piece);
  at_ += piece;
  left_ -= piece;
  if (left_ > 0) return false;
  checksum = XXH3_64bits_digest(&state_->xxh3);
  return true;
}

}  // namespace tent
