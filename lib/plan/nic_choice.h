// Which NIC of each host an rdma transfer uses, which GID on each, and why: pure, so that a plan is the same on every
// run.
//
// A NIC can serve when its port is active, the policy's device list (if any) names it, it can register the memory (GPU
// memory needs gpu_direct) and it has a GID that reaches the other end. Among those the nearest to the memory wins
// (same PCIe switch, and there the one that shares more bridges; then same NUMA node; then any), then the faster, then
// on the remote side the same name as the local one (the same rail), then the lower name, numbers in it counted as
// numbers.
//
// The pair must share link layer and address family; the path MTU is the smaller. Where not every pair can talk, the
// one of which the farther end is nearest wins, then the first in the local order. An explicit gid_index is the local
// end's; the remote end then uses its best GID of the same type and address family.
//
// The order of the NICs in the inventories, and whether a trace is wanted, change nothing.
//
// Thread safety: pure functions; results point into the environment, which must outlive them and stay unchanged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/environment.h"

namespace tent {

enum class Proximity : uint8_t { kSamePcieSwitch, kSameNuma, kOther, kUnknown };
std::string_view nameOf(Proximity proximity);  // "same_pcie_switch", "same_numa", "other", "unknown"

// How near a NIC is to a memory, as far as the inventory tells: the same switch where a PCI bridge below the root
// complex leads to both, else by NUMA node, where both have one. Host memory on a node is called by its node ("cpu:1");
// plain host memory ("cpu") is equally far from all.
Proximity proximityOf(const Nic& nic, const HostInventory& host, const MemoryLocation& memory);

// One NIC as the choice saw it, for explanations. `why` says what placed or excluded it, in words that hold names and
// addresses of the environment as they are.
struct NicVerdict {
  std::string name;
  Proximity proximity = Proximity::kUnknown;
  bool usable = false;
  std::string why;
};

struct NicTrace {
  std::vector<NicVerdict> local;  // in order of preference, excluded ones last
  std::vector<NicVerdict> remote;
  std::string pair;  // one sentence: why this pair, its GIDs and path MTU, or why none
};

struct NicEnd {
  const Nic* nic = nullptr;  // belongs to the environment
  const Gid* gid = nullptr;  // the same; nullptr only on InfiniBand ports without a listed GID
};

struct NicChoice {
  NicEnd local;
  NicEnd remote;
  int path_mtu_bytes = 0;
};

struct NicQuery {
  MemoryLocation local_memory;
  MemoryLocation remote_memory;
  std::span<const std::string> devices;    // of the policy entry: only these local NICs; empty: all
  std::span<const std::string> whitelist;  // topology.rdma_whitelist: only these local NICs; empty: all
  std::span<const std::string> blacklist;  // topology.rdma_blacklist: none of these local NICs
  std::optional<int> gid_index;            // an explicit local GID index; overrides the preference
};

enum class NicFailure : uint8_t {
  kNone,
  kNoLocalNic,       // the host has none
  kDeviceMissing,    // a device of `devices` is not on this host; `subject` names it
  kNoUsableLocal,    // all local NICs are excluded, for whatever reasons
  kNoRemoteNic,      // the peer has none
  kNoUsableRemote,   // all remote NICs are excluded
  kNoCommonAddress,  // no pair shares link layer and address family
  kNoGpuDirect,      // no usable one at an end, but there would be for host memory: staging can help
};

struct NicResult {
  NicFailure failure = NicFailure::kNoLocalNic;
  NicChoice choice;     // where failure is kNone
  std::string subject;  // kDeviceMissing: the device; kNoGpuDirect: the memory
};

// Chooses; with `trace` also says how. The trace changes nothing in the result.
NicResult chooseNics(const Environment& environment, const NicQuery& query, NicTrace* trace = nullptr);

}  // namespace tent
