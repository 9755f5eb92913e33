#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "inventory/environment.h"
#include "inventory/probe_parts.h"

namespace tent {
namespace {

namespace fs = std::filesystem;

// Whether the NICs can register GPU memory. dma-buf, the other way, shows only when a device is opened; a software
// device has no DMA of its own, so nvidia-peermem does nothing for it.
void markGpuDirect(const fs::path& sysfs, HostInventory& host, std::vector<std::string>& notes) {
  const bool has_gpu = std::any_of(host.memories.begin(), host.memories.end(),
                                   [](const Memory& memory) { return memory.location.kind == MemoryKind::kCuda; });
  std::error_code error;
  const bool peermem = fs::exists(sysfs / "module/nvidia_peermem", error);
  for (Nic& nic : host.nics) nic.gpu_direct = peermem && !nic.pci_path.empty();
  if (has_gpu && !host.nics.empty() && !peermem) {
    notes.emplace_back(
        "nvidia_peermem is not loaded: NICs are taken as unable to register GPU memory (whether dma-buf can shows only "
        "when "
        "a device is opened)");
  }
}

}  // namespace

Environment probeEnvironment(TransportSet built, const std::string& sysfs_root, std::vector<std::string>& notes) {
  const fs::path sysfs(sysfs_root);
  HostInventory host;
  host.name = "this host";
  host.nics = probeNics(sysfs, notes);
  host.memories = probeMemories(sysfs, notes);
  markGpuDirect(sysfs, host, notes);

  Environment environment;
  environment.origin = Environment::Origin::kProbed;
  environment.same_machine = true;
  environment.built = built;
  environment.local = host;
  environment.peer = std::move(host);
  return environment;
}

}  // namespace tent
