#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "plan/nic_choice.h"
#include "unit/plan/two_hosts.h"

using namespace tent;
using namespace tent::test;

namespace {

NicTrace trace(const Environment& environment, const NicQuery& query) {
  NicTrace result;
  chooseNics(environment, query, &result);
  return result;
}

std::string whyOf(const std::vector<NicVerdict>& verdicts, std::string_view name) {
  const auto found =
      std::find_if(verdicts.begin(), verdicts.end(), [name](const NicVerdict& v) { return v.name == name; });
  return found == verdicts.end() ? "not listed" : found->why;
}

}  // namespace

TEST_CASE("a trace lists every NIC in order of preference with what placed it") {
  Environment environment = twoHosts();
  nic(environment.local, "mlx5_0").active = false;
  nic(environment.peer, "mlx5_5").speed_gbps = 0;
  const NicTrace result = trace(environment, between("cuda:3", "cuda:3"));
  CHECK(result.pair == "mlx5_3 gid 3 (RoCE v2 10.0.3.1) <-> mlx5_3 gid 3 (RoCE v2 10.0.3.2), path MTU 4096: both IPv4");

  REQUIRE(result.local.size() == 8);
  CHECK(result.local[0].name == "mlx5_3");
  CHECK(result.local[0].usable);
  CHECK(result.local[0].proximity == Proximity::kSamePcieSwitch);
  CHECK(result.local[0].why == "same PCIe switch as cuda:3, 400 Gb/s");
  CHECK(result.local[1].name == "mlx5_1");
  CHECK(result.local[1].why == "same NUMA node as cuda:3, 400 Gb/s");
  CHECK(result.local[3].name == "mlx5_4");
  CHECK(result.local[3].why == "another NUMA node than cuda:3, 400 Gb/s");
  CHECK(result.local[7].name == "mlx5_0");
  CHECK_FALSE(result.local[7].usable);
  CHECK(result.local[7].why == "excluded: port is not ACTIVE");

  CHECK(result.remote[0].why == "same PCIe switch as cuda:3, 400 Gb/s, same name as the local NIC");
  CHECK(result.remote[7].name == "mlx5_5");
  CHECK(result.remote[7].why == "another NUMA node than cuda:3, speed unknown");
}

TEST_CASE("remote NICs are listed as the chosen local one prefers them, whichever others were tried") {
  Environment environment = twoHosts();
  nic(environment.local, "mlx5_0").gids = {gid(5, GidType::kRoceV2, "2001:db8::1")};
  nic(environment.local, "mlx5_1").active = false;
  const NicTrace result = trace(environment, between("cuda:0", "cuda:0"));
  CHECK(result.pair.starts_with("mlx5_2 gid 3 (RoCE v2 10.0.2.1) <-> mlx5_0 gid 3"));
  CHECK(result.remote[0].name == "mlx5_0");
  CHECK(result.remote[1].name == "mlx5_2");
  CHECK(result.remote[2].name == "mlx5_1");
}

TEST_CASE("a trace says why a place is not known") {
  Environment environment = twoHosts();
  Nic& software = nic(environment.local, "mlx5_7");
  software.numa_node.reset();
  software.pci_path.clear();
  const NicTrace plain = trace(environment, between("cpu", "cuda:3"));
  CHECK(whyOf(plain.local, "mlx5_0") == "cpu is on no particular NUMA node, 400 Gb/s");
  CHECK(whyOf(plain.local, "mlx5_7") == "NUMA node unknown, 400 Gb/s");
  environment.local.memories.clear();
  CHECK(whyOf(trace(environment, between("cuda:3", "cpu")).local, "mlx5_0") == "NUMA node of cuda:3 unknown, 400 Gb/s");
}

TEST_CASE("bridges are counted where their number decides") {
  Environment environment = twoHosts();
  environment.local.memories = {
      {memory("cuda:0"), 0,
       "pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:02.0/0000:20:00.0/0000:21:01.0/0000:23:00.0"}};
  nic(environment.local, "mlx5_1").pci_path =
      "pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:02.0/0000:20:00.0/0000:21:00.0/0000:22:00.0";
  const NicTrace result = trace(environment, between("cuda:0", "cpu"));
  CHECK(result.local[0].name == "mlx5_1");
  CHECK(result.local[0].why == "same PCIe switch as cuda:0 (4 bridges shared), 400 Gb/s");
  CHECK(result.local[1].why == "same PCIe switch as cuda:0 (2 bridges shared), 400 Gb/s");
}

TEST_CASE("a trace says what excluded a NIC") {
  Environment environment = twoHosts();
  nic(environment.local, "mlx5_0").gids = {gid(0, GidType::kRoceV1, "fe80::1"), gid(1, GidType::kRoceV2, "fe80::1")};
  nic(environment.local, "mlx5_1").gids = {gid(2, GidType::kRoceV1, "::ffff:10.0.1.1")};
  nic(environment.local, "mlx5_2").gids.clear();
  nic(environment.local, "mlx5_3").gpu_direct = false;
  nic(environment.local, "mlx5_4").gids.clear();
  for (int i = 0; i < 20; ++i) nic(environment.local, "mlx5_4").gids.push_back(gid(i, GidType::kRoceV2, "fe80::1"));
  const std::vector<std::string> white = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_7"};
  const std::vector<std::string> black = {"mlx5_5"};
  NicQuery query = between("cuda:3", "cuda:3");
  query.whitelist = white;
  query.blacklist = black;
  const NicTrace result = trace(environment, query);
  CHECK(whyOf(result.local, "mlx5_0") ==
        "excluded: only link-local and RoCE v1 GIDs (index 0 RoCE v1 fe80::1, index 1 RoCE v2 fe80::1)");
  CHECK(whyOf(result.local, "mlx5_1") == "excluded: only RoCE v1 GIDs (index 2 RoCE v1 10.0.1.1)");
  CHECK(whyOf(result.local, "mlx5_2") == "excluded: no GID: its network interface has no address");
  CHECK(whyOf(result.local, "mlx5_3") ==
        "excluded: cannot register the memory of cuda:3 (neither nvidia-peermem nor dma-buf)");
  CHECK(whyOf(result.local, "mlx5_4") ==
        "excluded: only link-local GIDs (index 0 RoCE v2 fe80::1, index 1 RoCE v2 fe80::1, index 2 RoCE v2 fe80::1, "
        "index 3 "
        "RoCE v2 fe80::1, and 16 more)");
  CHECK(whyOf(result.local, "mlx5_5") == "excluded: topology.rdma_blacklist names it");
  CHECK(whyOf(result.local, "mlx5_6") == "excluded: topology.rdma_whitelist does not name it");
  CHECK(result.local[0].name == "mlx5_7");

  const std::vector<std::string> devices = {"mlx5_7"};
  query.devices = devices;
  CHECK(whyOf(trace(environment, query).local, "mlx5_6") == "excluded: the policy's devices do not name it");
  query.devices = {};
  query.gid_index = 9;
  CHECK(whyOf(trace(environment, query).local, "mlx5_7") == "excluded: no GID at index 9, which gid_index asks for");
}

TEST_CASE("the sentence about the pair says what was given up for it") {
  Environment environment = twoHosts();
  NicQuery query = between("cuda:0", "cuda:0");
  SUBCASE("the MTU") {
    nic(environment.peer, "mlx5_0").mtu_bytes = 1024;
    CHECK(trace(environment, query).pair ==
          "mlx5_0 gid 3 (RoCE v2 10.0.0.1) <-> mlx5_0 gid 3 (RoCE v2 10.0.0.2), path MTU 1024 (of 4096 here and 1024 "
          "there): "
          "both IPv4");
  }
  SUBCASE("IPv4, and a nearer pair") {
    nic(environment.peer, "mlx5_0").gids = {gid(5, GidType::kRoceV2, "2001:db8::2")};
    CHECK(trace(environment, query).pair ==
          "mlx5_0 gid 3 (RoCE v2 10.0.0.1) <-> mlx5_1 gid 3 (RoCE v2 10.0.1.2), path MTU 4096: both IPv4; mlx5_0 <-> "
          "mlx5_0 "
          "passed over: IPv4 here, IPv6 there");
    nic(environment.local, "mlx5_0").gids.push_back(gid(6, GidType::kRoceV2, "2001:db8::1"));
    CHECK(trace(environment, query).pair ==
          "mlx5_0 gid 6 (RoCE v2 2001:db8::1) <-> mlx5_0 gid 5 (RoCE v2 2001:db8::2), path MTU 4096: both IPv6, as not "
          "both "
          "have an IPv4 address");
  }
  SUBCASE("the reach, by gid_index") {
    query.gid_index = 3;
    CHECK(trace(environment, query).pair.ends_with("path MTU 4096: gid_index 3 asks for it"));
    query.gid_index = 0;
    CHECK(trace(environment, query).pair ==
          "mlx5_0 gid 0 (RoCE v1 fe80::ba3f:d2ff:fe00:1) <-> mlx5_0 gid 0 (RoCE v1 fe80::ba3f:d2ff:fe00:1), path MTU "
          "4096: "
          "gid_index 0 asks for it, but link-local RoCE v1 crosses no router");
    nic(environment.peer, "mlx5_0").gids = {gid(3, GidType::kRoceV2, "::ffff:10.0.0.2")};
    CHECK(trace(environment, query).pair.ends_with("; mlx5_0 <-> mlx5_0 passed over: nothing there answers that GID"));
  }
  SUBCASE("nothing on InfiniBand") {
    for (HostInventory* host : {&environment.local, &environment.peer}) {
      for (Nic& n : host->nics) n.link_layer = LinkLayer::kInfiniband;
      nic(*host, "mlx5_0").gids = {gid(0, GidType::kIb, "fe80::7")};
    }
    nic(environment.peer, "mlx5_0").gids.clear();
    CHECK(trace(environment, query).pair ==
          "mlx5_0 gid 0 (InfiniBand fe80::7) <-> mlx5_0 (InfiniBand, no GID listed), path MTU 4096: both InfiniBand");
  }
}

TEST_CASE("without a pair the sentence says why there is none") {
  Environment environment = twoHosts();
  NicQuery query = between("cuda:0", "cuda:1");
  const std::vector<std::string> absent = {"mlx5_9"};
  SUBCASE("no NICs") {
    environment.local.nics.clear();
    CHECK(trace(environment, query).pair == "no pair: this host has no RDMA device");
    CHECK(trace(environment, query).remote.size() == 8);
    query.devices = absent;
    CHECK(trace(environment, query).pair == "no pair: the policy names the device mlx5_9, which this host lacks");
  }
  SUBCASE("none at the peer") {
    environment.peer.nics.clear();
    CHECK(trace(environment, query).pair == "no pair: the peer has no RDMA device");
  }
  SUBCASE("none usable") {
    for (Nic& n : environment.peer.nics) n.active = false;
    CHECK(trace(environment, query).pair == "no pair: no RDMA device of the peer can be used");
    for (Nic& n : environment.local.nics) n.active = false;
    CHECK(trace(environment, query).pair == "no pair: no RDMA device of this host can be used");
  }
  SUBCASE("GPU memory") {
    for (Nic& n : environment.peer.nics) n.gpu_direct = false;
    CHECK(trace(environment, query).pair ==
          "no pair: no RDMA device that may be used can register the memory of the peer's cuda:1");
  }
  SUBCASE("nothing in common") {
    for (Nic& n : environment.peer.nics) n.gids = {gid(5, GidType::kRoceV2, "2001:db8::2")};
    CHECK(trace(environment, query).pair ==
          "no pair: this host offers IPv4, the peer IPv6; both ends must share link layer and address family");
    nic(environment.peer, "mlx5_0").link_layer = LinkLayer::kInfiniband;
    CHECK(trace(environment, query).pair.find("the peer InfiniBand and IPv6;") == std::string::npos);
    CHECK(trace(environment, query).pair.find("the peer IPv6 and InfiniBand;") != std::string::npos);
  }
  SUBCASE("nothing that answers gid_index") {
    for (Nic& n : environment.peer.nics) n.gids = {gid(3, GidType::kRoceV2, "::ffff:10.0.0.2")};
    query.gid_index = 2;
    CHECK(trace(environment, query).pair ==
          "no pair: no RDMA device of the peer has a GID of the type and address family of mlx5_0 gid 2 (RoCE v1 "
          "10.0.0.1), "
          "which gid_index asks for");
  }
}
