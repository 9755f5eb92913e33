#include "plan/nic_choice.h"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "unit/plan/two_hosts.h"

using namespace tent;
using namespace tent::test;

namespace {

NicQuery between(std::string_view local, std::string_view remote) {
  NicQuery query;
  query.local_memory = memory(local);
  query.remote_memory = memory(remote);
  return query;
}

// "mlx5_3/3 mlx5_3/3 4096": NICs with the index of their GID, and the path MTU; or the number of the failure.
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

void setGids(Nic& nic, std::vector<Gid> gids) {
  nic.gids = std::move(gids);
}

void onlyNics(HostInventory& host, std::initializer_list<std::string_view> names) {
  std::erase_if(host.nics,
                [names](const Nic& n) { return std::find(names.begin(), names.end(), n.name) == names.end(); });
}

void toInfiniband(HostInventory& host) {
  for (Nic& n : host.nics) {
    n.link_layer = LinkLayer::kInfiniband;
    n.gids = {gid(0, GidType::kIb, "fe80::b859:9f03:d4:2a1c")};
  }
}

}  // namespace

TEST_CASE("how near a NIC is to a memory") {
  HostInventory host = h20Host("node-a", 1);
  CHECK(proximityOf(nic(host, "mlx5_3"), host, memory("cuda:3")) == Proximity::kSamePcieSwitch);
  CHECK(proximityOf(nic(host, "mlx5_2"), host, memory("cuda:3")) == Proximity::kSameNuma);
  CHECK(proximityOf(nic(host, "mlx5_4"), host, memory("cuda:3")) == Proximity::kOther);
  CHECK(proximityOf(nic(host, "mlx5_3"), host, memory("cuda:9")) == Proximity::kUnknown);
  CHECK(proximityOf(nic(host, "mlx5_3"), host, memory("cpu:0")) == Proximity::kSameNuma);
  CHECK(proximityOf(nic(host, "mlx5_3"), host, memory("cpu:1")) == Proximity::kOther);
  CHECK(proximityOf(nic(host, "mlx5_3"), host, memory("cpu")) == Proximity::kUnknown);

  SUBCASE("host memory on a node needs no entry") {
    host.memories.clear();
    CHECK(proximityOf(nic(host, "mlx5_3"), host, memory("cpu:0")) == Proximity::kSameNuma);
    CHECK(proximityOf(nic(host, "mlx5_3"), host, memory("cpu")) == Proximity::kUnknown);
  }
  SUBCASE("without NUMA nodes a common bridge still tells") {
    for (Nic& n : host.nics) n.numa_node.reset();
    CHECK(proximityOf(nic(host, "mlx5_3"), host, memory("cuda:3")) == Proximity::kSamePcieSwitch);
    CHECK(proximityOf(nic(host, "mlx5_2"), host, memory("cuda:3")) == Proximity::kUnknown);
  }
  SUBCASE("a common root complex is no switch") {
    host.memories = {{memory("cuda:0"), 0, "pci0000:10/0000:10:05.0/0000:20:00.0"}};
    CHECK(proximityOf(nic(host, "mlx5_0"), host, memory("cuda:0")) == Proximity::kSameNuma);
    host.memories[0].pci_path = "pci0000:10/0000:10:01.0";  // this is the bridge itself: not a place below it
    CHECK(proximityOf(nic(host, "mlx5_0"), host, memory("cuda:0")) == Proximity::kSameNuma);
    host.memories[0].pci_path = "pci0000:10/0000:10:01.0/0000:1f:00.0";
    CHECK(proximityOf(nic(host, "mlx5_0"), host, memory("cuda:0")) == Proximity::kSamePcieSwitch);
  }
  SUBCASE("a path that is part of a name is no common bridge") {
    host.memories = {{memory("cuda:0"), std::nullopt, "pci0000:10/0000:10:01.00/0000:1f:00.0"}};
    CHECK(proximityOf(nic(host, "mlx5_0"), host, memory("cuda:0")) == Proximity::kUnknown);
  }
  SUBCASE("where nothing is known, nothing is claimed") {
    Nic bare;
    CHECK(proximityOf(bare, host, memory("cuda:0")) == Proximity::kUnknown);
    CHECK(proximityOf(bare, HostInventory{}, memory("cpu")) == Proximity::kUnknown);
  }
}

TEST_CASE("each GPU uses the NIC below its switch, with the IPv4 GID, whichever index that has") {
  const Environment environment = twoHosts();
  for (int local = 0; local < 8; ++local) {
    for (int remote = 0; remote < 8; ++remote) {
      const NicQuery query = between(fmt::format("cuda:{}", local), fmt::format("cuda:{}", remote));
      CHECK(choose(environment, query) == fmt::format("mlx5_{}/3 mlx5_{}/3 4096", local, remote));
    }
  }
}

TEST_CASE("nearness wins in its tiers, speed within one") {
  Environment environment = twoHosts();
  SUBCASE("the switch before a faster NIC on the node") {
    nic(environment.local, "mlx5_1").speed_gbps = 800;
    CHECK(choose(environment, between("cuda:3", "cuda:3")) == "mlx5_3/3 mlx5_3/3 4096");
  }
  SUBCASE("the node before a faster NIC elsewhere") {
    nic(environment.local, "mlx5_3").active = false;
    nic(environment.local, "mlx5_5").speed_gbps = 800;
    CHECK(choose(environment, between("cuda:3", "cuda:3")) == "mlx5_0/3 mlx5_3/3 4096");
  }
  SUBCASE("the faster on the node, at both ends") {
    nic(environment.local, "mlx5_3").active = false;
    nic(environment.local, "mlx5_2").speed_gbps = 800;
    nic(environment.peer, "mlx5_3").active = false;
    nic(environment.peer, "mlx5_1").speed_gbps = 800;
    CHECK(choose(environment, between("cuda:3", "cuda:3")) == "mlx5_2/3 mlx5_1/3 4096");
  }
  SUBCASE("another node where there is nothing else") {
    onlyNics(environment.local, {"mlx5_6"});
    CHECK(choose(environment, between("cuda:3", "cuda:3")) == "mlx5_6/3 mlx5_3/3 4096");
  }
  SUBCASE("a place that is unknown is not behind one that is known to be far") {
    onlyNics(environment.local, {"mlx5_5", "mlx5_6"});
    Nic& unknown = nic(environment.local, "mlx5_6");
    unknown.numa_node.reset();
    unknown.pci_path.clear();
    unknown.speed_gbps = 800;
    CHECK(choose(environment, between("cuda:3", "cuda:3")) == "mlx5_6/3 mlx5_3/3 4096");
  }
  SUBCASE("a known speed before an unknown one") {
    for (Nic& n : environment.local.nics) n.speed_gbps = 0;
    nic(environment.local, "mlx5_7").speed_gbps = 10;
    CHECK(choose(environment, between("cpu", "cpu")) == "mlx5_7/3 mlx5_7/3 4096");
  }
}

TEST_CASE("below nested switches the nearer one wins over the faster NIC") {
  Environment environment = twoHosts();
  onlyNics(environment.local, {"mlx5_0", "mlx5_1"});
  environment.local.memories = {
      {memory("cuda:0"), 0,
       "pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:02.0/0000:20:00.0/0000:21:01.0/0000:23:00.0"}};
  nic(environment.local, "mlx5_0").speed_gbps = 800;  // below the upper switch
  nic(environment.local, "mlx5_1").pci_path =
      "pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:02.0/0000:20:00.0/0000:21:00.0/0000:22:00.0";
  CHECK(choose(environment, between("cuda:0", "cuda:0")) == "mlx5_1/3 mlx5_0/3 4096");
}

TEST_CASE("host memory uses a NIC of its node, plain host memory the first of all, each on one rail") {
  const Environment environment = twoHosts();
  CHECK(choose(environment, between("cpu:1", "cpu:0")) == "mlx5_4/3 mlx5_0/3 4096");
  CHECK(choose(environment, between("cpu", "cpu")) == "mlx5_0/3 mlx5_0/3 4096");
  CHECK(choose(environment, between("cpu:1", "cpu")) == "mlx5_4/3 mlx5_4/3 4096");
  CHECK(choose(environment, between("cuda:6", "cpu")) == "mlx5_6/3 mlx5_6/3 4096");
  CHECK(choose(environment, between("cpu", "cuda:6")) == "mlx5_0/3 mlx5_6/3 4096");
}

TEST_CASE("numbers in names count as numbers") {
  Environment environment = twoHosts();
  onlyNics(environment.local, {"mlx5_1", "mlx5_2"});
  onlyNics(environment.peer, {"mlx5_3"});
  nic(environment.local, "mlx5_1").name = "mlx5_10";
  CHECK(choose(environment, between("cpu", "cpu")) == "mlx5_2/3 mlx5_3/3 4096");
}

TEST_CASE("hosts whose names and numbers of NICs differ still pair") {
  Environment environment = twoHosts();
  onlyNics(environment.peer, {"mlx5_0", "mlx5_2", "mlx5_4", "mlx5_6"});
  for (Nic& n : environment.peer.nics) n.name = "roce_" + n.name.substr(5);
  CHECK(choose(environment, between("cuda:3", "cuda:3")) == "mlx5_3/3 roce_0/3 4096");
  CHECK(choose(environment, between("cuda:7", "cuda:6")) == "mlx5_7/3 roce_6/3 4096");
}

TEST_CASE("the policy's devices, the white list and the black list narrow the local side") {
  const Environment environment = twoHosts();
  NicQuery query = between("cuda:3", "cuda:3");
  const std::vector<std::string> two = {"mlx5_6", "mlx5_2"};
  const std::vector<std::string> absent = {"mlx5_2", "mlx5_9", "mlx5_8"};
  SUBCASE("devices") {
    query.devices = two;
    CHECK(choose(environment, query) == "mlx5_2/3 mlx5_3/3 4096");
  }
  SUBCASE("a device that the host lacks is an error, whatever else is named") {
    query.devices = absent;
    const NicResult result = chooseNics(environment, query);
    CHECK(result.failure == NicFailure::kDeviceMissing);
    CHECK(result.subject == "mlx5_9");
    CHECK(result.choice.local.nic == nullptr);
  }
  SUBCASE("also on a host without NICs") {
    query.devices = absent;
    const NicResult result = chooseNics(referenceEnvironment(), query);
    CHECK(result.failure == NicFailure::kDeviceMissing);
    CHECK(result.subject == "mlx5_2");
  }
  SUBCASE("white list; it may name what is not there") {
    query.whitelist = absent;
    CHECK(choose(environment, query) == "mlx5_2/3 mlx5_3/3 4096");
  }
  SUBCASE("black list") {
    const std::vector<std::string> black = {"mlx5_3", "mlx5_0"};
    query.blacklist = black;
    CHECK(choose(environment, query) == "mlx5_1/3 mlx5_3/3 4096");
  }
  SUBCASE("lists that leave none") {
    query.devices = two;
    query.blacklist = two;
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoUsableLocal);
  }
}

TEST_CASE("hosts without NICs, and NICs that are down") {
  Environment environment = twoHosts();
  const NicQuery query = between("cpu", "cpu");
  SUBCASE("no local NIC") {
    environment.local.nics.clear();
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoLocalNic);
  }
  SUBCASE("no remote NIC") {
    environment.peer.nics.clear();
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoRemoteNic);
  }
  SUBCASE("one is down") {
    nic(environment.local, "mlx5_0").active = false;
    CHECK(choose(environment, query) == "mlx5_1/3 mlx5_1/3 4096");
  }
  SUBCASE("all local ones are down") {
    for (Nic& n : environment.local.nics) n.active = false;
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoUsableLocal);
  }
  SUBCASE("all remote ones are down") {
    for (Nic& n : environment.peer.nics) n.active = false;
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoUsableRemote);
  }
}

TEST_CASE("GPU memory needs a NIC that can register it") {
  Environment environment = twoHosts();
  SUBCASE("another NIC can") {
    nic(environment.local, "mlx5_3").gpu_direct = false;
    CHECK(choose(environment, between("cuda:3", "cuda:3")) == "mlx5_0/3 mlx5_3/3 4096");
  }
  SUBCASE("host memory does not ask") {
    for (Nic& n : environment.local.nics) n.gpu_direct = false;
    CHECK(choose(environment, between("cpu", "cuda:3")) == "mlx5_0/3 mlx5_3/3 4096");
    const NicResult result = chooseNics(environment, between("cuda:3", "cpu"));
    CHECK(result.failure == NicFailure::kNoGpuDirect);
    CHECK(result.subject == "cuda:3");
  }
  SUBCASE("the remote end neither") {
    for (Nic& n : environment.peer.nics) n.gpu_direct = false;
    const NicResult result = chooseNics(environment, between("cuda:3", "cuda:5"));
    CHECK(result.failure == NicFailure::kNoGpuDirect);
    CHECK(result.subject == "the peer's cuda:5");
  }
  SUBCASE("where host memory would fail too, that is not what is missing") {
    for (Nic& n : environment.local.nics) {
      n.gpu_direct = false;
      n.active = false;
    }
    CHECK(chooseNics(environment, between("cuda:3", "cpu")).failure == NicFailure::kNoUsableLocal);
  }
}

TEST_CASE("GIDs are preferred by what they reach, not by their index") {
  Environment environment = twoHosts();
  const NicQuery query = between("cuda:0", "cuda:0");
  Nic& local = nic(environment.local, "mlx5_0");
  Nic& remote = nic(environment.peer, "mlx5_0");
  SUBCASE("IPv4 late in the table") {
    setGids(local, {gid(0, GidType::kRoceV2, "fe80::1"), gid(3, GidType::kRoceV2, "2001:db8::1"),
                    gid(9, GidType::kRoceV2, "::ffff:10.0.0.1")});
    CHECK(choose(environment, query) == "mlx5_0/9 mlx5_0/3 4096");
  }
  SUBCASE("the first of several IPv4 ones") {
    setGids(local, {gid(5, GidType::kRoceV2, "::ffff:10.0.0.1"), gid(7, GidType::kRoceV2, "::ffff:10.9.0.1")});
    CHECK(choose(environment, query) == "mlx5_0/5 mlx5_0/3 4096");
  }
  SUBCASE("IPv6 where that is all, at both ends") {
    setGids(local, {gid(1, GidType::kRoceV2, "fe80::1"), gid(4, GidType::kRoceV1, "2001:db8::1"),
                    gid(5, GidType::kRoceV2, "2001:db8::1")});
    setGids(remote, {gid(7, GidType::kRoceV2, "fd00::2")});
    CHECK(choose(environment, query) == "mlx5_0/5 mlx5_0/7 4096");
  }
  SUBCASE("IPv6 where one end has nothing else, though the other has both") {
    local.gids.push_back(gid(5, GidType::kRoceV2, "2001:db8::1"));
    setGids(remote, {gid(7, GidType::kRoceV2, "2001:db8::2")});
    CHECK(choose(environment, query) == "mlx5_0/5 mlx5_0/7 4096");
  }
  SUBCASE("a NIC with only link-local GIDs is passed over for a farther one") {
    setGids(local, {gid(0, GidType::kRoceV1, "fe80::1"), gid(1, GidType::kRoceV2, "fe80::1"),
                    gid(2, GidType::kRoceV2, "::ffff:169.254.1.1")});
    CHECK(choose(environment, query) == "mlx5_1/3 mlx5_0/3 4096");
  }
  SUBCASE("link-local everywhere") {
    for (Nic& n : environment.local.nics) setGids(n, {gid(1, GidType::kRoceV2, "fe80::1")});
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoUsableLocal);
  }
  SUBCASE("RoCE v1 everywhere at the peer") {
    for (Nic& n : environment.peer.nics) setGids(n, {gid(0, GidType::kRoceV1, "::ffff:10.0.0.2")});
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoUsableRemote);
  }
  SUBCASE("no GIDs, or only entries that are not in use") {
    for (Nic& n : environment.local.nics) setGids(n, {gid(0, GidType::kRoceV2, "::")});
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoUsableLocal);
  }
}

TEST_CASE("both ends are of one address family, at the cost of nearness") {
  Environment environment = twoHosts();
  const NicQuery query = between("cuda:0", "cuda:0");
  setGids(nic(environment.peer, "mlx5_0"), {gid(5, GidType::kRoceV2, "2001:db8::2")});
  SUBCASE("a farther remote NIC") {
    CHECK(choose(environment, query) == "mlx5_0/3 mlx5_1/3 4096");
  }
  SUBCASE("a farther local NIC where no remote one fits the nearest") {
    onlyNics(environment.peer, {"mlx5_0"});
    setGids(nic(environment.local, "mlx5_2"), {gid(5, GidType::kRoceV2, "2001:db8::1")});
    CHECK(choose(environment, query) == "mlx5_2/5 mlx5_0/5 4096");
  }
  SUBCASE("a farther local NIC rather than a remote one on the wrong node") {
    setGids(nic(environment.local, "mlx5_0"), {gid(5, GidType::kRoceV2, "2001:db8::1")});
    nic(environment.peer, "mlx5_0").gids = mlx5Gids("10.0.0.2");
    setGids(nic(environment.peer, "mlx5_7"), {gid(5, GidType::kRoceV2, "2001:db8::2")});
    CHECK(choose(environment, query) == "mlx5_1/3 mlx5_0/3 4096");
    setGids(nic(environment.peer, "mlx5_3"), {gid(5, GidType::kRoceV2, "2001:db8::3")});
    CHECK(choose(environment, query) == "mlx5_0/5 mlx5_3/5 4096");  // as far: the local order decides
  }
  SUBCASE("none fits") {
    onlyNics(environment.peer, {"mlx5_0"});
    const NicResult result = chooseNics(environment, query);
    CHECK(result.failure == NicFailure::kNoCommonAddress);
    CHECK(result.choice.local.nic == nullptr);
  }
}

TEST_CASE("an explicit gid_index overrides the preference at the local end") {
  Environment environment = twoHosts();
  NicQuery query = between("cuda:0", "cuda:0");
  Nic& local = nic(environment.local, "mlx5_0");
  Nic& remote = nic(environment.peer, "mlx5_0");
  SUBCASE("onto the usual one; the remote index is its own") {
    query.gid_index = 3;
    setGids(remote, {gid(8, GidType::kRoceV2, "::ffff:10.0.0.2")});
    CHECK(choose(environment, query) == "mlx5_0/3 mlx5_0/8 4096");
  }
  SUBCASE("onto link-local, answered by link-local first") {
    query.gid_index = 1;
    CHECK(choose(environment, query) == "mlx5_0/1 mlx5_0/1 4096");
    setGids(remote, {gid(2, GidType::kRoceV2, "2001:db8::2"), gid(6, GidType::kRoceV2, "fe80::6")});
    CHECK(choose(environment, query) == "mlx5_0/1 mlx5_0/6 4096");
    setGids(remote, {gid(2, GidType::kRoceV2, "2001:db8::2")});
    CHECK(choose(environment, query) == "mlx5_0/1 mlx5_0/2 4096");
  }
  SUBCASE("onto RoCE v1, never answered by RoCE v2") {
    query.gid_index = 2;
    CHECK(choose(environment, query) == "mlx5_0/2 mlx5_0/2 4096");
    setGids(remote, {gid(3, GidType::kRoceV2, "::ffff:10.0.0.2")});
    CHECK(choose(environment, query) == "mlx5_0/2 mlx5_1/2 4096");
    onlyNics(environment.peer, {"mlx5_0"});
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoCommonAddress);
  }
  SUBCASE("an index that the nearest NIC does not have") {
    query.gid_index = 5;
    setGids(nic(environment.local, "mlx5_6"), {gid(5, GidType::kRoceV2, "::ffff:10.0.6.1")});
    CHECK(choose(environment, query) == "mlx5_6/5 mlx5_0/3 4096");
  }
  SUBCASE("an index that no NIC has, or that is not in use") {
    query.gid_index = 9;
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoUsableLocal);
    for (Nic& n : environment.local.nics) n.gids.push_back(gid(9, GidType::kRoceV2, "::"));
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoUsableLocal);
  }
  SUBCASE("IPv6 by index where IPv4 is there") {
    local.gids.push_back(gid(5, GidType::kRoceV2, "2001:db8::1"));
    remote.gids.push_back(gid(7, GidType::kRoceV2, "2001:db8::2"));
    query.gid_index = 5;
    CHECK(choose(environment, query) == "mlx5_0/5 mlx5_0/7 4096");
  }
}

TEST_CASE("InfiniBand and Ethernet do not mix, and InfiniBand needs no particular GID") {
  Environment environment = twoHosts();
  NicQuery query = between("cuda:0", "cuda:0");
  toInfiniband(environment.local);
  SUBCASE("InfiniBand against Ethernet") {
    CHECK(chooseNics(environment, query).failure == NicFailure::kNoCommonAddress);
  }
  SUBCASE("InfiniBand at both ends") {
    toInfiniband(environment.peer);
    CHECK(choose(environment, query) == "mlx5_0/0 mlx5_0/0 4096");
    nic(environment.local, "mlx5_0").gids.clear();
    setGids(nic(environment.peer, "mlx5_0"), {gid(0, GidType::kIb, "::"), gid(2, GidType::kIb, "fe80::2")});
    CHECK(choose(environment, query) == "mlx5_0/-1 mlx5_0/2 4096");
    query.gid_index = 0;
    CHECK(choose(environment, query) == "mlx5_1/0 mlx5_0/2 4096");
  }
  SUBCASE("one port of the other kind among them") {
    toInfiniband(environment.peer);
    nic(environment.local, "mlx5_0").link_layer = LinkLayer::kEthernet;
    setGids(nic(environment.local, "mlx5_0"), mlx5Gids("10.0.0.1"));
    CHECK(choose(environment, query) == "mlx5_1/0 mlx5_0/0 4096");
  }
}

TEST_CASE("the path MTU is the smaller of both ends") {
  Environment environment = twoHosts();
  nic(environment.peer, "mlx5_0").mtu_bytes = 1024;
  nic(environment.local, "mlx5_1").mtu_bytes = 2048;
  CHECK(choose(environment, between("cuda:0", "cuda:0")) == "mlx5_0/3 mlx5_0/3 1024");
  CHECK(choose(environment, between("cuda:1", "cuda:1")) == "mlx5_1/3 mlx5_1/3 2048");
  CHECK(choose(environment, between("cuda:1", "cuda:0")) == "mlx5_1/3 mlx5_0/3 1024");
}

TEST_CASE("on one machine a NIC talks to itself") {
  Environment environment = twoHosts();
  environment.same_machine = true;
  environment.peer = environment.local;
  CHECK(choose(environment, between("cuda:5", "cuda:5")) == "mlx5_5/3 mlx5_5/3 4096");
}

namespace {

// A host with everything that the choice looks at varied.
HostInventory randomHost(std::mt19937& random, int host_number) {
  const auto below = [&random](unsigned limit) { return static_cast<int>(random() % limit); };
  HostInventory host = h20Host("host", host_number);
  for (Nic& n : host.nics) {
    n.active = below(5) != 0;
    n.gpu_direct = below(4) != 0;
    n.speed_gbps = below(3) * 200;
    n.mtu_bytes = 1024 << below(3);
    if (below(8) == 0) n.link_layer = LinkLayer::kInfiniband;
    if (below(4) == 0) n.numa_node.reset();
    if (below(4) == 0) n.pci_path.clear();
    if (below(3) == 0) n.gids.pop_back();
    if (below(3) == 0) n.gids.push_back(gid(6, GidType::kRoceV2, fmt::format("2001:db8::{}", host_number)));
  }
  host.nics.resize(static_cast<size_t>(below(9)));
  return host;
}

}  // namespace

TEST_CASE("neither the order of the NICs nor a trace changes the choice") {
  std::mt19937 random(20260822);
  const std::vector<std::string> some = {"mlx5_0", "mlx5_1", "mlx5_3"};
  const std::string_view memories[] = {"cpu", "cpu:1", "cuda:0", "cuda:3", "cuda:7"};
  int chosen = 0;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    Environment environment = twoHosts();
    environment.local = randomHost(random, 1);
    environment.peer = randomHost(random, 2);
    NicQuery query = between(memories[random() % 5], memories[random() % 5]);
    if (random() % 4 == 0) query.whitelist = some;
    if (random() % 4 == 0) query.blacklist = some;
    if (random() % 8 == 0) query.devices = some;
    if (random() % 4 == 0) query.gid_index = static_cast<int>(random() % 8);

    NicTrace trace;
    const NicResult first = chooseNics(environment, query, &trace);
    REQUIRE(text(chooseNics(environment, query)) == text(first));
    CHECK(trace.local.size() == environment.local.nics.size());
    CHECK(trace.remote.size() == environment.peer.nics.size());
    CHECK_FALSE(trace.pair.empty());
    if (first.failure == NicFailure::kNone) {
      ++chosen;
      CHECK(environment.local.findNic(first.choice.local.nic->name) == first.choice.local.nic);
      CHECK(environment.peer.findNic(first.choice.remote.nic->name) == first.choice.remote.nic);
      CHECK(first.choice.local.nic->active);
      CHECK(first.choice.local.nic->link_layer == first.choice.remote.nic->link_layer);
    }

    Environment shuffled = environment;
    std::shuffle(shuffled.local.nics.begin(), shuffled.local.nics.end(), random);
    std::shuffle(shuffled.peer.nics.begin(), shuffled.peer.nics.end(), random);
    NicTrace shuffled_trace;
    const NicResult second = chooseNics(shuffled, query, &shuffled_trace);
    REQUIRE(text(second) == text(first));
    CHECK(second.subject == first.subject);
    CHECK(shuffled_trace.pair == trace.pair);
    for (size_t i = 0; i < trace.local.size(); ++i) CHECK(shuffled_trace.local[i].why == trace.local[i].why);
    for (size_t i = 0; i < trace.remote.size(); ++i) CHECK(shuffled_trace.remote[i].name == trace.remote[i].name);
  }
  CHECK(chosen > 500);  // the rounds are not all failures
}
