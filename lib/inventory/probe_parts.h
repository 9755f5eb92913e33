// The two halves of the live probe: RDMA devices, and the memories beside them. Private to lib/inventory.
//
// Both read only below `sysfs`, never throw, and put what they could not learn into `notes`, one line each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "inventory/environment.h"

namespace tent {

// The RDMA devices, one port of each, in order of their names. `gpu_direct` is left false.
std::vector<Nic> probeNics(const std::filesystem::path& sysfs, std::vector<std::string>& notes);

// Host memory by NUMA node, then the GPUs that the NVIDIA driver has bound. These are numbered in order of their PCI
// addresses, which is CUDA's own order where all GPUs are alike, or with CUDA_DEVICE_ORDER=PCI_BUS_ID.
std::vector<Memory> probeMemories(const std::filesystem::path& sysfs, std::vector<std::string>& notes);

// The RoCE MTU that the kernel derives from that of the network interface: the largest of 256 to 4096 that leaves room
// for the largest headers; 0 when none does.
int roceMtuOf(int interface_mtu);

}  // namespace tent
