// XXH3-64 of memory, a bounded piece a call. Thread safety: none; a reader belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tent {

// Of memory at once.
uint64_t checksumOf(std::span<const std::byte> memory);

class ChecksumReader {
 public:
  // The memory stays there and unchanged until the last piece was read.
  ChecksumReader(const std::byte* data, uint64_t length);
  ~ChecksumReader();
  ChecksumReader(const ChecksumReader&) = delete;
  ChecksumReader& operator=(const ChecksumReader&) = delete;

  // Reads the next piece; true when that was the last, and `checksum` is set.
  bool step(uint64_t& checksum);

 private:
  struct State;
  const std::byte* at_;
  uint64_t left_;
  std::unique_ptr<State> state_;
};

}  // namespace tent
