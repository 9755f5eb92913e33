#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "inventory/probe_parts.h"
#include "inventory/sysfs.h"

namespace tent {
namespace {

namespace fs = std::filesystem;

// Domain, bus, device and function of "0000:16:00.0"; as numbers, so that domain 10000 comes after ffff.
using PciAddress = std::array<unsigned, 4>;

std::optional<PciAddress> parsePciAddress(std::string_view text) {
  constexpr std::string_view kSeparators = "::.";  // after each part but the last
  PciAddress address{};
  const char* at = text.data();
  const char* end = at + text.size();
  for (size_t i = 0; i < address.size(); ++i) {
    const auto [stop, error] = std::from_chars(at, end, address[i], 16);
    if (error != std::errc{}) return std::nullopt;
    at = stop;
    if (i == kSeparators.size()) break;
    if (at == end || *at != kSeparators[i]) return std::nullopt;
    ++at;
  }
  return at == end ? std::optional(address) : std::nullopt;
}

// The driver also binds what is no GPU (on some boards the switches between them); displays and 3D controllers are
// class 03.
bool isGpu(const fs::path& device) {
  const std::optional<std::string> pci_class = sysfs::readLine(device / "class");
  return !pci_class || pci_class->starts_with("0x03");
}

void addNumaNodes(const fs::path& sysfs, std::vector<Memory>& memories, std::vector<std::string>& notes) {
  const fs::path folder = sysfs / "devices/system/node";
  const std::vector<int> nodes = sysfs::listNumbers(folder, "node");
  if (nodes.empty()) notes.push_back(fmt::format("NUMA nodes unknown: {} lists none", folder.string()));
  for (int node : nodes) {
    if (node > kMaxMemoryOrdinal) continue;  // no name to call it by
    memories.push_back(Memory{.location = {MemoryKind::kCpu, node}, .numa_node = node, .pci_path = ""});
  }
}

void addGpus(const fs::path& sysfs, std::vector<Memory>& memories) {
  const fs::path folder = sysfs / "bus/pci/drivers/nvidia";
  std::vector<std::pair<PciAddress, std::string>> gpus;
  for (std::string& name : sysfs::list(folder).value_or(std::vector<std::string>{})) {
    const std::optional<PciAddress> address = parsePciAddress(name);  // beside "bind", "module", ...
    if (address && isGpu(folder / name)) gpus.emplace_back(*address, std::move(name));
  }
  std::sort(gpus.begin(), gpus.end());
  int ordinal = 0;
  for (const auto& [address, name] : gpus) {
    memories.push_back(Memory{.location = {MemoryKind::kCuda, ordinal++},
                              .numa_node = sysfs::numaNodeOf(folder / name),
                              .pci_path = sysfs::pciPathOf(folder / name)});
  }
}

}  // namespace

std::vector<Memory> probeMemories(const fs::path& sysfs, std::vector<std::string>& notes) {
  std::vector<Memory> memories;
  addNumaNodes(sysfs, memories, notes);
  addGpus(sysfs, memories);
  return memories;
}

}  // namespace tent
