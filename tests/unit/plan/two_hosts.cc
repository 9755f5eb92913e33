#include "unit/plan/two_hosts.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace tent::test {

Gid gid(int index, GidType type, std::string_view address) {
  return {index, parseGid(address).value(), type, ""};
}

std::vector<Gid> mlx5Gids(std::string_view ipv4) {
  const std::string mapped = fmt::format("::ffff:{}", ipv4);
  return {gid(0, GidType::kRoceV1, "fe80::ba3f:d2ff:fe00:1"), gid(1, GidType::kRoceV2, "fe80::ba3f:d2ff:fe00:1"),
          gid(2, GidType::kRoceV1, mapped), gid(3, GidType::kRoceV2, mapped)};
}

HostInventory h20Host(std::string name, int host_number) {
  HostInventory host;
  host.name = std::move(name);
  for (int i = 0; i < 8; ++i) {
    const int numa_node = i / 4;
    // A root port leads to the switch's upstream port; its downstream ports to the NIC and to the GPU.
    const std::string upstream =
        fmt::format("pci0000:{0:x}/0000:{0:x}:01.0/0000:{1:x}:00.0", 0x10 + i * 0x18, 0x11 + i * 0x18);
    Nic nic;
    nic.name = fmt::format("mlx5_{}", i);
    nic.numa_node = numa_node;
    nic.pci_path = fmt::format("{0}/0000:{1:x}:00.0/0000:{2:x}:00.0", upstream, 0x12 + i * 0x18, 0x13 + i * 0x18);
    nic.speed_gbps = 400;
    nic.gpu_direct = true;
    nic.gids = mlx5Gids(fmt::format("10.0.{}.{}", i, host_number));
    host.nics.push_back(nic);
    host.memories.push_back(
        {{MemoryKind::kCuda, i},
         numa_node,
         fmt::format("{0}/0000:{1:x}:01.0/0000:{2:x}:00.0", upstream, 0x12 + i * 0x18, 0x14 + i * 0x18)});
  }
  for (int node : {0, 1}) host.memories.push_back({{MemoryKind::kCpu, node}, node, ""});
  return host;
}

Environment twoHosts() {
  Environment environment;
  environment.origin = Environment::Origin::kFile;
  environment.same_machine = false;
  for (Transport transport : {Transport::kShm, Transport::kTcp, Transport::kRdma}) environment.built.add(transport);
  environment.local = h20Host("node-a", 1);
  environment.peer = h20Host("node-b", 2);
  return environment;
}

Nic& nic(HostInventory& host, std::string_view name) {
  const auto found = std::find_if(host.nics.begin(), host.nics.end(), [name](const Nic& n) { return n.name == name; });
  if (found == host.nics.end()) throw std::invalid_argument("no NIC " + std::string(name));
  return *found;
}

MemoryLocation memory(std::string_view text) {
  return parseMemoryLocation(text).value();
}

NicQuery between(std::string_view local, std::string_view remote) {
  NicQuery query;
  query.local_memory = memory(local);
  query.remote_memory = memory(remote);
  return query;
}

std::string text(const NicResult& result) {
  if (result.failure != NicFailure::kNone) return fmt::format("failure {}", static_cast<int>(result.failure));
  const auto end = [](const NicEnd& e) {
    return fmt::format("{}/{}", e.nic->name, e.gid == nullptr ? -1 : e.gid->index);
  };
  return fmt::format("{} {} {}", end(result.choice.local), end(result.choice.remote), result.choice.path_mtu_bytes);
}

std::string choose(const Environment& environment, const NicQuery& query) {
  return text(chooseNics(environment, query));
}

void onlyNics(HostInventory& host, std::initializer_list<std::string_view> names) {
  std::erase_if(host.nics,
                [names](const Nic& n) { return std::find(names.begin(), names.end(), n.name) == names.end(); });
}

}  // namespace tent::test
