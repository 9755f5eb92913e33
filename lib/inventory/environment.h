// What a plan is made against: the NICs and memories of this host and of the peer, the transports that are built,
// enabled and healthy, and how the two hosts stand to each other. Probed live, read from a file, or the fixed reference
// host.
//
// A plain value without behaviour; who fills it checks it (the JSON reader, the probe), who reads it may rely on that:
// NIC and memory names are unique within a host, GIDs are in order of their index, each index once. So a device with
// several ports has one entry, with the port that is used.
//
// Thread safety: values; the functions keep no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intent/values.h"
#include "inventory/gid.h"
#include "inventory/memory.h"

namespace tent {

enum class LinkLayer : uint8_t { kEthernet, kInfiniband };
std::string_view nameOf(LinkLayer layer);
std::optional<LinkLayer> linkLayerOfName(std::string_view name);

// One port of an RDMA device.
struct Nic {
  std::string name;  // as in sysfs: "mlx5_0"
  int port = 1;
  bool active = true;            // the port's state is ACTIVE
  std::optional<int> numa_node;  // absent: unknown
  // The PCI bridges down to the device, root first: "pci0000:15/0000:15:01.0/0000:16:00.0". "" unknown. Two devices are
  // as near as the leading part of their paths is long.
  std::string pci_path;
  double speed_gbps = 0;  // 0 unknown
  LinkLayer link_layer = LinkLayer::kEthernet;
  int mtu_bytes = 4096;     // the active path MTU: 256, 512, 1024, 2048 or 4096; unknown is taken as 4096
  bool gpu_direct = false;  // can register GPU memory (nvidia-peermem or dma-buf)
  std::vector<Gid> gids;
};

// A memory of a host. Host memory without an entry is still there, on no particular node.
struct Memory {
  MemoryLocation location;
  std::optional<int> numa_node;
  std::string pci_path;  // as Nic::pci_path, for GPUs
};

struct HostInventory {
  std::string name;  // for people
  std::vector<Nic> nics;
  std::vector<Memory> memories;
  // Copies between a GPU's memory and host memory can be made on this host; staging through host memory needs it.
  bool gpu_copy = false;

  bool has(const MemoryLocation& location) const;  // host memory always is there
  const Memory* find(const MemoryLocation& location) const;
  const Nic* findNic(std::string_view nic_name) const;
};

struct Environment {
  enum class Origin : uint8_t { kReference, kFile, kProbed };
  Origin origin = Origin::kReference;
  bool same_machine = true;
  bool peer_reachable = true;
  TransportSet built;
  TransportSet disabled;    // built, but switched off here
  TransportSet peer_lacks;  // the peer does not serve these
  TransportSet unhealthy;   // paused after repeated failures
  HostInventory local;
  HostInventory peer;
};

// The fixed host that plans are made against when no environment is given, the same on every build and machine: a peer
// on the same machine, shm, tcp and rdma built, host memory only and no NIC.
Environment referenceEnvironment();

// This machine as sysfs and this build tell, with the peer on the same machine: RDMA devices with one port of each,
// GIDs, NUMA nodes and PCI paths, and GPUs that the NVIDIA driver lists. Reads under `sysfs_root` ("/sys"), which need
// not be a real one. Whatever cannot be read is left unknown and named in `notes`, one line each; it does not fail.
// Does not block beyond reading sysfs. `built`: what this build contains.
//
// What only an opened device tells stays open: the active MTU is derived from the network interface's (RoCE),
// gpu_direct means that nvidia-peermem is loaded, and gpu_copy is false.
Environment probeEnvironment(TransportSet built, const std::string& sysfs_root, std::vector<std::string>& notes);

}  // namespace tent
