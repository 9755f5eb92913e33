#include "base/host_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>

namespace tent {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> numberIn(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

// "MemTotal:       24683656 kB": bytes.
std::optional<uint64_t> lineOf(std::ifstream& meminfo, std::string_view key) {
  meminfo.clear();
  meminfo.seekg(0);
  for (std::string line; std::getline(meminfo, line);) {
    if (!line.starts_with(key)) continue;
    const auto kibibytes = numberIn(std::string_view(line).substr(key.size()));
    return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
  }
  return std::nullopt;
}

void lower(MemoryLimit& limit, const fs::path& file, uint64_t swap) {
  std::string line;
  std::ifstream(file) >> line;
  const auto allowed = numberIn(line);  // "max": none
  if (!allowed || *allowed >= limit.bytes || limit.bytes - *allowed <= swap) return;
  limit.bytes = *allowed + swap;
  limit.available = std::min(limit.available, *allowed);
  limit.source = "its control group (" + file.string() + ") allows";
}

// The group's own limit and those of all above it. Inside a container the path may be that of the host, and not there.
void lowerByGroups(MemoryLimit& limit, const fs::path& mounted, fs::path group, const char* name, uint64_t swap) {
  while (true) {
    lower(limit, mounted / group / name, swap);
    if (group.empty()) return;
    group = group.parent_path();
  }
}

}  // namespace

std::optional<MemoryLimit> memoryLimit(const fs::path& root) {
  std::ifstream meminfo(root / "proc/meminfo");
  const auto total = lineOf(meminfo, "MemTotal:");
  if (!total) return std::nullopt;
  const uint64_t swap = lineOf(meminfo, "SwapTotal:").value_or(0);
  MemoryLimit limit{*total + swap, lineOf(meminfo, "MemAvailable:").value_or(0), "this machine has"};
  const fs::path groups = root / "sys/fs/cgroup";
  std::ifstream cgroup(root / "proc/self/cgroup");
  // "4:memory:/path" of version 1, "0::/path" of version 2.
  for (std::string line; std::getline(cgroup, line);) {
    const size_t controllers = line.find(':');
    const size_t path = controllers == std::string::npos ? controllers : line.find(':', controllers + 1);
    if (path == std::string::npos) continue;
    const std::string names = ',' + line.substr(controllers + 1, path - controllers - 1) + ',';
    const fs::path group = fs::path(line.substr(path + 1)).relative_path();
    if (names == ",,") lowerByGroups(limit, groups, group, "memory.max", swap);
    if (names.find(",memory,") != std::string::npos) {
      lowerByGroups(limit, groups / "memory", group, "memory.limit_in_bytes", swap);
    }
  }
  return limit;
}

}  // namespace tent
