// Where the bytes of a transfer lie: host memory or the memory of a GPU, as files and configurations name it ("cpu",
// "cpu:1", "cuda:0").
//
// Thread safety: values; all functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tent {

enum class MemoryKind : uint8_t { kCpu, kCuda };
std::string_view nameOf(MemoryKind kind);

// More than any machine has, and low enough to catch a size or a port number written in the wrong place.
inline constexpr int kMaxMemoryOrdinal = 1023;

// One memory. `ordinal` is the GPU's number, or for host memory its NUMA node; -1 for host memory on no particular
// node.
struct MemoryLocation {
  MemoryKind kind = MemoryKind::kCpu;
  int ordinal = -1;
  friend bool operator==(const MemoryLocation&, const MemoryLocation&) = default;
};

// "cpu", "cpu:N", "cuda:N" with N from 0 to 1023 and no leading zeros; nothing for any other text.
std::optional<MemoryLocation> parseMemoryLocation(std::string_view text);
std::string toString(const MemoryLocation& location);

// Who owns registered memory: the application, or the engine that allocated it.
enum class Registration : uint8_t { kApplication, kAllocated };
std::string_view nameOf(Registration registration);

enum class SegmentType : uint8_t { kMemory, kFile };
inline constexpr std::array kSegmentTypes{SegmentType::kMemory, SegmentType::kFile};
std::string_view nameOf(SegmentType type);

}  // namespace tent
