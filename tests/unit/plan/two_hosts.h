// Two hosts to choose NICs on: as H20 nodes are built, each with eight GPUs and a NIC beside each GPU.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/environment.h"
#include "plan/nic_choice.h"

namespace tent::test {

Gid gid(int index, GidType type, std::string_view address);

// The table of an mlx5 port: link-local at 0 and 1, the IPv4 address as RoCE v1 at 2 and as RoCE v2 at 3.
std::vector<Gid> mlx5Gids(std::string_view ipv4);

// GPU and NIC `i` of 0 to 7 hang below one PCIe switch; 0 to 3 are on NUMA node 0, the others on 1. 400 Gb/s, MTU 4096.
HostInventory h20Host(std::string name, int host_number);

// Two of them, remote to each other, everything built.
Environment twoHosts();

// The NIC of an inventory, to change it.
Nic& nic(HostInventory& host, std::string_view name);

MemoryLocation memory(std::string_view text);

// A query that asks for nothing but the two memories.
NicQuery between(std::string_view local, std::string_view remote);

// "mlx5_3/3 mlx5_3/3 4096": NICs with the index of their GID (-1 none), and the path MTU; or "failure " and its number.
std::string text(const NicResult& result);
std::string choose(const Environment& environment, const NicQuery& query);

// Takes all other NICs out of an inventory.
void onlyNics(HostInventory& host, std::initializer_list<std::string_view> names);

}  // namespace tent::test
