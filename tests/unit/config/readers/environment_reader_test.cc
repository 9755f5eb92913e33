#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

Reading<Environment> readNics(std::string_view nics) {
  return readEnv(fmt::format(R"({{"schema_version": 1, "local": {{"nics": [{}]}}}})", nics));
}

}  // namespace

TEST_CASE("an environment that says nothing is two ends of one machine with host memory") {
  const auto reading = readEnv(R"({"schema_version": 1})");
  REQUIRE(reading.clean());
  const Environment& environment = *reading.value;
  CHECK(environment.origin == Environment::Origin::kFile);
  CHECK(environment.same_machine);
  CHECK(environment.peer_reachable);
  CHECK(environment.built.has(Transport::kShm));
  CHECK(environment.built.has(Transport::kTcp));
  CHECK_FALSE(environment.built.has(Transport::kRdma));
  CHECK(environment.local.nics.empty());
  CHECK(environment.local.has(MemoryLocation{}));
}

TEST_CASE("an environment arrives as it was written, GIDs in the order of their indices") {
  const auto reading = readEnv(R"({
    "schema_version": 1, "description": "two nodes", "built": ["rdma", "tcp"], "disabled": ["tcp"],
    "same_machine": false, "peer_reachable": false, "unhealthy": ["rdma"],
    "local": {"name": "a", "gpu_copy": true,
      "memories": [{"memory": "cuda:0", "numa_node": 1, "pci_path": "pci0000:15/0000:16:00.0"},
                   {"memory": "cpu:0", "numa_node": -1}],
      "nics": [{"name": "mlx5_0", "port": 2, "active": false, "numa_node": 0, "pci_path": "pci0000:15/0000:17:00.0",
                "speed_gbps": 400, "link_layer": "infiniband", "mtu": 2048, "gpu_direct": true,
                "gids": [{"index": 3, "gid": "::ffff:10.0.0.1", "type": "roce_v2", "interface": "ens1np0"},
                         {"index": 0, "gid": "fe80::1"}]}]},
    "peer": {"name": "b", "lacks": ["shm"], "nics": [{"name": "mlx5_0", "gids": [{"index": 1, "gid": "::1"}]}]}
  })");
  CHECK(reading.lines() == std::vector<std::string>{});
  REQUIRE(reading.clean());
  const Environment& environment = *reading.value;
  CHECK_FALSE(environment.same_machine);
  CHECK_FALSE(environment.peer_reachable);
  CHECK(environment.built.has(Transport::kRdma));
  CHECK_FALSE(environment.built.has(Transport::kShm));
  CHECK(environment.disabled.has(Transport::kTcp));
  CHECK(environment.unhealthy.has(Transport::kRdma));
  CHECK(environment.peer_lacks.has(Transport::kShm));
  CHECK(environment.local.name == "a");
  CHECK(environment.local.gpu_copy);
  REQUIRE(environment.local.memories.size() == 2);
  CHECK(toString(environment.local.memories[0].location) == "cuda:0");
  CHECK(environment.local.memories[0].numa_node == 1);
  CHECK_FALSE(environment.local.memories[1].numa_node);
  REQUIRE(environment.local.nics.size() == 1);
  const Nic& nic = environment.local.nics[0];
  CHECK(nic.port == 2);
  CHECK_FALSE(nic.active);
  CHECK(nic.numa_node == 0);
  CHECK(nic.speed_gbps == 400);
  CHECK(nic.link_layer == LinkLayer::kInfiniband);
  CHECK(nic.mtu_bytes == 2048);
  CHECK(nic.gpu_direct);
  REQUIRE(nic.gids.size() == 2);
  CHECK(nic.gids[0].index == 0);
  CHECK(nic.gids[0].type == GidType::kIb);
  CHECK(nic.gids[1].index == 3);
  CHECK(nic.gids[1].type == GidType::kRoceV2);
  CHECK(nic.gids[1].interface == "ens1np0");
  CHECK(environment.peer.nics[0].gids[0].type == GidType::kRoceV2);
}

TEST_CASE("a peer on the same machine that is not described has what this host has") {
  const std::string_view host = R"("local": {"name": "a", "nics": [{"name": "mlx5_0"}]})";
  const auto same = readEnv(fmt::format(R"({{"schema_version": 1, {}}})", host));
  REQUIRE(same.clean());
  CHECK(same.value->peer.nics.size() == 1);
  const auto other = readEnv(fmt::format(R"({{"schema_version": 1, "same_machine": false, {}}})", host));
  REQUIRE(other.clean());
  CHECK(other.value->peer.nics.empty());
}

TEST_CASE("an environment says its version") {
  CHECK(readEnv("{}").onlyFault("", "\"schema_version\" is missing"));
  CHECK(readEnv(R"({"schema_version": 2})").onlyFault("/schema_version", "version 2"));
  CHECK(readEnv(R"({"schema_version": "1"})").onlyFault("/schema_version", "integer"));
}

TEST_CASE("devices, memories and GIDs are there once") {
  CHECK(readNics(R"({"name": "a"}, {"name": "a"})").onlyFault("/local/nics/1/name", "twice"));
  CHECK(readNics(R"({"name": "a", "gids": [{"index": 1, "gid": "::1"}, {"index": 1, "gid": "::2"}]})")
            .onlyFault("/local/nics/0/gids/1/index", "twice"));
  CHECK(readEnv(R"({"schema_version": 1, "peer": {"memories": [{"memory": "cuda:1"}, {"memory": "cuda:1"}]}})")
            .onlyFault("/peer/memories/1/memory", "twice"));
  CHECK(readEnv(R"({"schema_version": 1, "built": ["tcp", "tcp"]})").onlyFault("/built/1", "twice"));
}

TEST_CASE("values that no device has are refused") {
  CHECK(readNics(R"({"name": "a", "mtu": 9000})").onlyFault("/local/nics/0/mtu", "no path MTU"));
  CHECK(readNics(R"({"name": "a", "numa_node": -2})").onlyFault("/local/nics/0/numa_node", "must be"));
  CHECK(readNics(R"({"name": "a", "numa_node": null})").onlyFault("/local/nics/0/numa_node", "null"));
  CHECK(readNics(R"({"name": "a", "link_layer": "Ethernet"})").onlyFault("/local/nics/0/link_layer", "did you mean"));
  CHECK(readNics(R"({"name": "a", "gids": [{"index": 0, "gid": "fe80::g"}]})")
            .onlyFault("/local/nics/0/gids/0/gid", "no IPv6 address"));
  CHECK(readNics(R"({"name": "a", "speed": 400})").onlyFault("/local/nics/0/speed", "unknown key"));
  CHECK(readEnv(R"({"schema_version": 1, "local": {"lacks": []}})").onlyFault("/local/lacks", "unknown key"));
}
