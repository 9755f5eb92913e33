// Memory that belongs to the application, as far as an engine can tell. Thread safety: as a pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/system_calls.h"

namespace tent::tool {

// Pages of zeros, given back with the object.
class Mapping {
 public:
  Mapping() = default;
  // Nothing where the system has no such memory; errno says why.
  static std::optional<Mapping> make(uint64_t bytes) {
    void* const address =
        systemCalls().mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) return std::nullopt;
    Mapping mapping;
    mapping.memory_ = {static_cast<std::byte*>(address), bytes};
    return mapping;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Mapping() {
    if (!memory_.empty()) munmap(memory_.data(), memory_.size());
  }

  std::span<std::byte> memory() const { return memory_; }

 private:
  std::span<std::byte> memory_;
};

}  // namespace tent::tool
