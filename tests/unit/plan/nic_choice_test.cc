#include "plan/nic_choice.h"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "unit/plan/two_hosts.h"

using namespace tent;
using namespace tent::test;

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

TEST_CASE("on one machine a NIC talks to itself") {
  Environment environment = twoHosts();
  environment.same_machine = true;
  environment.peer = environment.local;
  CHECK(choose(environment, between("cuda:5", "cuda:5")) == "mlx5_5/3 mlx5_5/3 4096");
}
