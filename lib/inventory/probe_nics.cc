#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inventory/probe_parts.h"
#include "inventory/sysfs.h"

namespace tent {
namespace {

namespace fs = std::filesystem;

constexpr int kStateActive = 4;  // enum ib_port_state
constexpr size_t kIndicesNamed = 8;

// Collects what could not be learned about one device.
class DeviceNotes {
 public:
  DeviceNotes(std::string_view device, std::vector<std::string>& notes) : device_(device), notes_(notes) {}
  void add(std::string_view what) { notes_.push_back(fmt::format("{}: {}", device_, what)); }

 private:
  std::string device_;  // safe for a terminal
  std::vector<std::string>& notes_;
};

std::optional<int> stateOf(const fs::path& port) {
  const std::optional<std::string> line = sysfs::readLine(port / "state");  // "4: ACTIVE"
  return line ? sysfs::integerOf(std::string_view(*line).substr(0, line->find(':'))) : std::nullopt;
}

// A device has one entry in the inventory, as its name is what policies and plans call it by: the first port that is
// active, else the first.
std::optional<int> choosePort(const fs::path& device, DeviceNotes& notes) {
  const std::vector<int> ports = sysfs::listNumbers(device / "ports");
  if (ports.empty()) {
    notes.add("left out: it has no port");
    return std::nullopt;
  }
  const auto active = std::find_if(ports.begin(), ports.end(), [&](int port) {
    return stateOf(device / "ports" / std::to_string(port)) == kStateActive;
  });
  const int chosen = active == ports.end() ? ports.front() : *active;
  if (ports.size() > 1) notes.add(fmt::format("has {} ports, of which port {} is used", ports.size(), chosen));
  return chosen;
}

std::optional<LinkLayer> readLinkLayer(const fs::path& port, DeviceNotes& notes) {
  const std::optional<std::string> text = sysfs::readLine(port / "link_layer");
  if (text == "Ethernet") return LinkLayer::kEthernet;
  if (text == "InfiniBand") return LinkLayer::kInfiniband;
  notes.add("left out: its link layer is " + (text ? sysfs::quoted(*text) : "unknown"));
  return std::nullopt;
}

bool readActive(const fs::path& port, DeviceNotes& notes) {
  const std::optional<int> state = stateOf(port);
  if (!state) notes.add("the state of its port is unknown; taken as not ACTIVE");
  return state == kStateActive;
}

double readSpeed(const fs::path& port, DeviceNotes& notes) {
  const std::optional<std::string> text = sysfs::readLine(port / "rate");  // "100 Gb/sec (4X EDR)"
  const std::optional<double> speed = text ? sysfs::leadingNumberOf(*text) : std::nullopt;
  if (!speed) notes.add("speed unknown" + (text ? ": the rate reads " + sysfs::quoted(*text) : ""));
  return speed.value_or(0);
}

std::optional<GidType> readGidType(const fs::path& port, int index, LinkLayer link_layer) {
  if (link_layer == LinkLayer::kInfiniband) return GidType::kIb;
  const std::optional<std::string> text = sysfs::readLine(port / "gid_attrs/types" / std::to_string(index));
  if (text == "RoCE v2") return GidType::kRoceV2;
  if (text == "IB/RoCE v1") return GidType::kRoceV1;
  return std::nullopt;
}

// Tables are long (256 entries and more) and mostly empty: entries not in use are passed over without a word.
std::vector<Gid> readGids(const fs::path& port, LinkLayer link_layer, DeviceNotes& notes) {
  std::vector<Gid> gids;
  std::vector<int> unreadable;
  for (int index : sysfs::listNumbers(port / "gids")) {
    const std::optional<std::string> text = sysfs::readLine(port / "gids" / std::to_string(index));
    const std::optional<GidAddress> address = text ? parseGid(*text) : std::nullopt;
    if (address && classOf(*address) == GidClass::kNull) continue;
    const std::optional<GidType> type = readGidType(port, index, link_layer);
    if (!address || !type) {
      unreadable.push_back(index);
      continue;
    }
    std::string interface = sysfs::readLine(port / "gid_attrs/ndevs" / std::to_string(index)).value_or("");
    gids.push_back(Gid{index, *address, *type, std::move(interface)});
  }
  if (!unreadable.empty()) {
    const std::span shown(unreadable.data(), std::min(unreadable.size(), kIndicesNamed));
    notes.add(fmt::format("{} GIDs left out, as their address or type cannot be read: index {}{}", unreadable.size(),
                          fmt::join(shown, ", "), shown.size() < unreadable.size() ? ", ..." : ""));
  }
  return gids;
}

// verbs knows the active MTU, sysfs does not; but on Ethernet it follows from the network interface's.
std::optional<int> readMtu(const fs::path& sysfs, const Nic& nic) {
  if (nic.link_layer != LinkLayer::kEthernet) return std::nullopt;
  for (const Gid& gid : nic.gids) {
    const bool is_name =
        !gid.interface.empty() && gid.interface.find('/') == std::string::npos && gid.interface != "..";
    if (!is_name) continue;
    const std::optional<int> mtu = sysfs::readInteger(sysfs / "class/net" / gid.interface / "mtu");
    if (mtu && roceMtuOf(*mtu) > 0) return roceMtuOf(*mtu);
  }
  return std::nullopt;
}

void readLocality(const fs::path& device, Nic& nic, DeviceNotes& notes) {
  nic.pci_path = sysfs::pciPathOf(device / "device");
  nic.numa_node = sysfs::numaNodeOf(device / "device");
  if (nic.pci_path.empty()) {
    notes.add("no PCI device is behind it, as with software devices; its place beside memories is unknown");
  } else if (!nic.numa_node) {
    notes.add("NUMA node unknown");
  }
}

std::optional<Nic> probeNic(const fs::path& sysfs, const std::string& name, std::vector<std::string>& all_notes) {
  DeviceNotes notes(sysfs::printable(name), all_notes);
  const fs::path device = sysfs / "class/infiniband" / name;
  const std::optional<int> port = choosePort(device, notes);
  if (!port) return std::nullopt;
  const fs::path port_folder = device / "ports" / std::to_string(*port);
  const std::optional<LinkLayer> link_layer = readLinkLayer(port_folder, notes);
  if (!link_layer) return std::nullopt;

  Nic nic;
  nic.name = name;
  nic.port = *port;
  nic.link_layer = *link_layer;
  nic.active = readActive(port_folder, notes);
  nic.speed_gbps = readSpeed(port_folder, notes);
  nic.gids = readGids(port_folder, *link_layer, notes);
  readLocality(device, nic, notes);
  if (const std::optional<int> mtu = readMtu(sysfs, nic)) {
    nic.mtu_bytes = *mtu;
  } else {
    notes.add(fmt::format("path MTU not known before the device is opened; {} assumed", nic.mtu_bytes));
  }
  return nic;
}

}  // namespace

int roceMtuOf(int interface_mtu) {
  // GRH 40, UDP 8, BTH 12, XRC 4, atomic 28, ICRC 4: what the kernel keeps free, whichever of them a packet has.
  constexpr int kHeaderBytes = 96;
  for (int mtu : {4096, 2048, 1024, 512, 256}) {
    if (interface_mtu - kHeaderBytes >= mtu) return mtu;
  }
  return 0;
}

std::vector<Nic> probeNics(const fs::path& sysfs, std::vector<std::string>& notes) {
  const fs::path folder = sysfs / "class/infiniband";
  const std::optional<std::vector<std::string>> names = sysfs::list(folder);
  if (!names) {
    constexpr std::string_view kMeaning = "no RDMA driver is loaded, or this container does not see the host's devices";
    notes.push_back(fmt::format("no RDMA device: {} is not there: {}", folder.string(), kMeaning));
    return {};
  }
  if (names->empty()) {
    notes.push_back(fmt::format("no RDMA device: {} is empty: no driver has found a device", folder.string()));
  }
  std::vector<Nic> nics;
  for (const std::string& name : *names) {
    if (std::optional<Nic> nic = probeNic(sysfs, name, notes)) nics.push_back(std::move(*nic));
  }
  return nics;
}

}  // namespace tent
