#include "inventory/environment.h"

#include <algorithm>

namespace tent {

std::string_view nameOf(LinkLayer layer) {
  return layer == LinkLayer::kEthernet ? "ethernet" : "infiniband";
}

std::optional<LinkLayer> linkLayerOfName(std::string_view name) {
  for (LinkLayer layer : {LinkLayer::kEthernet, LinkLayer::kInfiniband}) {
    if (name == nameOf(layer)) return layer;
  }
  return std::nullopt;
}

bool HostInventory::has(const MemoryLocation& location) const {
  return location.kind == MemoryKind::kCpu || find(location) != nullptr;
}

const Memory* HostInventory::find(const MemoryLocation& location) const {
  auto found =
      std::find_if(memories.begin(), memories.end(), [&](const Memory& memory) { return memory.location == location; });
  return found == memories.end() ? nullptr : &*found;
}

const Nic* HostInventory::findNic(std::string_view nic_name) const {
  auto found = std::find_if(nics.begin(), nics.end(), [&](const Nic& nic) { return nic.name == nic_name; });
  return found == nics.end() ? nullptr : &*found;
}

}  // namespace tent
