#include "plan/nic_ranking.h"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>

namespace tent {
namespace {

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The bridges that lead to both devices: the common leading parts of their paths, without the root complex, which all
// devices of a socket share, and without the devices themselves.
int sharedBridges(std::string_view a, std::string_view b) {
  int shared = -1;  // the root complex does not count
  for (;;) {
    const size_t end_a = a.find('/');
    const size_t end_b = b.find('/');
    const bool device_reached = end_a == std::string_view::npos || end_b == std::string_view::npos;
    if (device_reached || a.substr(0, end_a) != b.substr(0, end_b)) return std::max(shared, 0);
    ++shared;
    a.remove_prefix(end_a + 1);
    b.remove_prefix(end_b + 1);
  }
}

struct Place {
  std::optional<int> numa_node;
  std::string_view pci_path;
};

Place placeOf(const HostInventory& host, const MemoryLocation& memory) {
  Place place;
  if (const Memory* entry = host.find(memory)) place = {entry->numa_node, entry->pci_path};
  // Host memory on a node is called by its node.
  const bool named_by_node = memory.kind == MemoryKind::kCpu && memory.ordinal >= 0;
  if (named_by_node && !place.numa_node) place.numa_node = memory.ordinal;
  return place;
}

NicExclusion exclusionByGid(const Nic& nic, std::optional<int> own_index, bool any_address) {
  if (own_index) return gidAt(nic, *own_index) == nullptr ? NicExclusion::kNoSuchGid : NicExclusion::kNone;
  if (nic.link_layer == LinkLayer::kInfiniband) return NicExclusion::kNone;  // LIDs address it
  const auto in_use = [](const Gid& gid) { return classOf(gid.address) != GidClass::kNull; };
  if (std::none_of(nic.gids.begin(), nic.gids.end(), in_use)) return NicExclusion::kNoGid;
  if (any_address || std::any_of(nic.gids.begin(), nic.gids.end(), isRoutableRoce)) return NicExclusion::kNone;
  return NicExclusion::kNoRoutableGid;
}

RankedNic placed(const Nic& nic, const HostInventory& host, const MemoryLocation& memory) {
  return {&nic, proximityOf(nic, host, memory), sharedBridges(nic.pci_path, placeOf(host, memory).pci_path),
          NicExclusion::kNone};
}

NicExclusion exclusionByPort(const Nic& nic, const MemoryLocation& memory, NicExclusion by_gid) {
  if (!nic.active) return NicExclusion::kNotActive;
  if (by_gid != NicExclusion::kNone) return by_gid;
  if (memory.kind == MemoryKind::kCuda && !nic.gpu_direct) return NicExclusion::kNoGpuDirect;
  return NicExclusion::kNone;
}

const Gid* firstInUse(const Nic& nic) {
  for (const Gid& gid : nic.gids) {
    if (classOf(gid.address) != GidClass::kNull) return &gid;
  }
  return nullptr;
}

const Gid* firstRoutable(const Nic& nic, AddressFamily family) {
  for (const Gid& gid : nic.gids) {
    if (isRoutableRoce(gid) && familyOf(gid.address) == family) return &gid;
  }
  return nullptr;
}

// What can answer an explicitly chosen GID: the versions of RoCE do not mix. Its own class first, because a link-local
// address is reached from a link-local one.
const Gid* counterpartOf(const Gid& wanted, const Nic& nic) {
  const Gid* best = nullptr;
  for (const Gid& gid : nic.gids) {
    const bool answers = gid.type == wanted.type && familyOf(gid.address) == familyOf(wanted.address) &&
                         classOf(gid.address) != GidClass::kNull;
    if (!answers) continue;
    if (classOf(gid.address) == classOf(wanted.address)) return &gid;
    if (best == nullptr) best = &gid;
  }
  return best;
}

}  // namespace

std::string_view nameOf(Proximity proximity) {
  switch (proximity) {
    case Proximity::kSamePcieSwitch: return "same_pcie_switch";
    case Proximity::kSameNuma: return "same_numa";
    case Proximity::kOther: return "other";
    case Proximity::kUnknown: return "unknown";
  }
  return "";
}

Proximity proximityOf(const Nic& nic, const HostInventory& host, const MemoryLocation& memory) {
  const Place place = placeOf(host, memory);
  if (sharedBridges(nic.pci_path, place.pci_path) > 0) return Proximity::kSamePcieSwitch;
  if (!nic.numa_node || !place.numa_node) return Proximity::kUnknown;
  return *nic.numa_node == *place.numa_node ? Proximity::kSameNuma : Proximity::kOther;
}

std::vector<RankedNic> judgeLocalNics(const HostInventory& host, const NicQuery& query) {
  std::vector<RankedNic> judged;
  judged.reserve(host.nics.size());
  for (const Nic& nic : host.nics) {
    RankedNic ranked = placed(nic, host, query.local_memory);
    if (!query.devices.empty() && !contains(query.devices, nic.name)) {
      ranked.exclusion = NicExclusion::kNotInPolicy;
    } else if (!query.whitelist.empty() && !contains(query.whitelist, nic.name)) {
      ranked.exclusion = NicExclusion::kNotInWhitelist;
    } else if (contains(query.blacklist, nic.name)) {
      ranked.exclusion = NicExclusion::kInBlacklist;
    } else {
      ranked.exclusion = exclusionByPort(nic, query.local_memory, exclusionByGid(nic, query.gid_index, false));
    }
    judged.push_back(ranked);
  }
  return judged;
}

std::vector<RankedNic> judgeRemoteNics(const HostInventory& host, const NicQuery& query) {
  std::vector<RankedNic> judged;
  judged.reserve(host.nics.size());
  for (const Nic& nic : host.nics) {
    RankedNic ranked = placed(nic, host, query.remote_memory);
    const bool any_address = query.gid_index.has_value();
    ranked.exclusion = exclusionByPort(nic, query.remote_memory, exclusionByGid(nic, std::nullopt, any_address));
    judged.push_back(ranked);
  }
  return judged;
}

int tierOf(Proximity proximity) {
  return std::min(static_cast<int>(proximity), static_cast<int>(Proximity::kOther));
}

void rank(std::vector<RankedNic>& nics, std::string_view rail) {
  const auto before = [rail](const RankedNic& a, const RankedNic& b) {
    if (a.usable() != b.usable()) return a.usable();
    if (a.usable()) {
      const auto key = [rail](const RankedNic& ranked) {
        return std::tuple(tierOf(ranked.proximity), -ranked.shared_bridges, -ranked.nic->speed_gbps,
                          ranked.nic->name != rail);
      };
      if (key(a) != key(b)) return key(a) < key(b);
    }
    return nameBefore(a.nic->name, b.nic->name);
  };
  std::sort(nics.begin(), nics.end(), before);
}

bool nameBefore(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    // Numbers of any length compare by length once their zeros are off, then digit by digit.
    const auto number = [&is_digit](std::string_view text, size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view number_a = number(a, i);
    const std::string_view number_b = number(b, j);
    if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
    if (number_a != number_b) return number_a < number_b;
  }
  if (i < a.size() || j < b.size()) return j < b.size();
  return a < b;  // "mlx5_01" and "mlx5_1"
}

const Gid* gidAt(const Nic& nic, int index) {
  for (const Gid& gid : nic.gids) {
    if (gid.index == index) return classOf(gid.address) == GidClass::kNull ? nullptr : &gid;
  }
  return nullptr;
}

std::optional<GidPair> commonGids(const Nic& local, const Nic& remote, std::optional<int> gid_index) {
  if (local.link_layer != remote.link_layer) return std::nullopt;
  if (local.link_layer == LinkLayer::kInfiniband) {
    return GidPair{gid_index ? gidAt(local, *gid_index) : firstInUse(local), firstInUse(remote)};
  }
  if (gid_index) {
    const Gid* wanted = gidAt(local, *gid_index);
    const Gid* answer = wanted == nullptr ? nullptr : counterpartOf(*wanted, remote);
    if (answer == nullptr) return std::nullopt;
    return GidPair{wanted, answer};
  }
  for (AddressFamily family : {AddressFamily::kIpv4, AddressFamily::kIpv6}) {
    const GidPair pair{firstRoutable(local, family), firstRoutable(remote, family)};
    if (pair.local != nullptr && pair.remote != nullptr) return pair;
  }
  return std::nullopt;
}

}  // namespace tent
