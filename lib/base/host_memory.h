// How much memory this process could get at the very most. Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tent {

struct MemoryLimit {
  uint64_t bytes = 0;      // memory and swap together
  uint64_t available = 0;  // of that, without swapping, at the most: as /proc/meminfo says
  std::string source;      // "this machine has", "its control group (.../memory.max) allows": to be followed by a size
};

// The least of the machine's memory and of what the control groups of this process allow, both with all swap. Nothing
// where /proc/meminfo does not tell. Reads below `root`: /proc/meminfo, /proc/self/cgroup and /sys/fs/cgroup.
std::optional<MemoryLimit> memoryLimit(const std::filesystem::path& root = "/");

}  // namespace tent
