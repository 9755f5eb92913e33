#include <doctest/doctest.h>

#include "inventory/environment.h"

using namespace tent;

TEST_CASE("the reference host is exactly what its documentation says") {
  const Environment environment = referenceEnvironment();
  CHECK(environment.origin == Environment::Origin::kReference);
  CHECK(environment.same_machine);
  CHECK(environment.peer_reachable);
  for (int i = 0; i < kTransportCount; ++i) {
    const auto transport = static_cast<Transport>(i);
    const bool built = transport == Transport::kShm || transport == Transport::kTcp || transport == Transport::kRdma;
    CHECK(environment.built.has(transport) == built);
  }
  CHECK(environment.disabled.empty());
  CHECK(environment.peer_lacks.empty());
  CHECK(environment.unhealthy.empty());
  for (const HostInventory* host : {&environment.local, &environment.peer}) {
    CHECK(host->nics.empty());
    CHECK_FALSE(host->gpu_copy);
    CHECK(host->name == "reference host");
    REQUIRE(host->memories.size() == 1);
    CHECK(toString(host->memories[0].location) == "cpu");
    CHECK_FALSE(host->memories[0].numa_node.has_value());
    CHECK(host->memories[0].pci_path.empty());
  }
}

TEST_CASE("host memory is on every host, a GPU only where it is listed") {
  HostInventory host;
  CHECK(host.has({MemoryKind::kCpu, -1}));
  CHECK(host.has({MemoryKind::kCpu, 1}));
  CHECK_FALSE(host.has({MemoryKind::kCuda, 0}));
  CHECK(host.find({MemoryKind::kCpu, -1}) == nullptr);

  host.memories.push_back({{MemoryKind::kCuda, 0}, 1, "pci0000:97/0000:97:01.0/0000:98:00.0"});
  CHECK(host.has({MemoryKind::kCuda, 0}));
  CHECK_FALSE(host.has({MemoryKind::kCuda, 1}));
  REQUIRE(host.find({MemoryKind::kCuda, 0}) != nullptr);
  CHECK(host.find({MemoryKind::kCuda, 0})->numa_node == 1);
}

TEST_CASE("a NIC is found by its whole name") {
  HostInventory host;
  host.nics.push_back({.name = "mlx5_1", .numa_node = {}, .pci_path = {}, .gids = {}});
  host.nics.push_back({.name = "mlx5_10", .numa_node = {}, .pci_path = {}, .gids = {}});
  REQUIRE(host.findNic("mlx5_10") != nullptr);
  CHECK(host.findNic("mlx5_10") == &host.nics[1]);
  CHECK(host.findNic("mlx5_") == nullptr);
  CHECK(host.findNic("") == nullptr);
}

TEST_CASE("link layers have the names that files use") {
  for (LinkLayer layer : {LinkLayer::kEthernet, LinkLayer::kInfiniband}) CHECK(linkLayerOfName(nameOf(layer)) == layer);
  CHECK(nameOf(LinkLayer::kEthernet) == "ethernet");
  CHECK_FALSE(linkLayerOfName("Ethernet").has_value());
}
