#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "inventory/environment.h"
#include "inventory/probe_parts.h"
#include "unit/inventory/fake_sysfs.h"

using namespace tent;
using tent::test::FakeNic;
using tent::test::FakeSysfs;

namespace {

constexpr std::string_view kNull = "0000:0000:0000:0000:0000:0000:0000:0000";

struct Probed {
  Environment environment;
  std::vector<std::string> notes;

  const std::vector<Nic>& nics() const { return environment.local.nics; }
  bool noted(std::string_view text) const {
    return std::any_of(notes.begin(), notes.end(),
                       [text](const std::string& note) { return note.find(text) != std::string::npos; });
  }
};

Probed probe(const FakeSysfs& sysfs) {
  Probed probed;
  TransportSet built;
  built.add(Transport::kTcp);
  probed.environment = probeEnvironment(built, sysfs.root(), probed.notes);
  for (const std::string& note : probed.notes) CHECK(note.find('\n') == std::string::npos);
  return probed;
}

// A port as mlx5 has it: two link-local GIDs, two of the IPv4 address, the rest of the table empty.
FakeNic mlx5(std::string name, std::string pci_path, std::string interface, std::string ipv4_hex) {
  const std::string link_local = "fe80:0000:0000:0000:ba3f:d2ff:fe00:" + ipv4_hex.substr(5);
  const std::string mapped = "0000:0000:0000:0000:0000:ffff:" + ipv4_hex;
  FakeNic nic;
  nic.name = std::move(name);
  nic.pci_path = std::move(pci_path);
  nic.interface = std::move(interface);
  nic.interface_mtu = "9000";
  nic.gids = {{0, link_local, "IB/RoCE v1"}, {1, link_local, "RoCE v2"},  {2, mapped, "IB/RoCE v1"},
              {3, mapped, "RoCE v2"},        {4, std::string(kNull), ""}, {255, std::string(kNull), ""}};
  return nic;
}

FakeNic rxe() {
  FakeNic nic;
  nic.name = "rxe0";
  nic.rate = "2.5 Gb/sec (1X SDR)";
  nic.interface = "eth0";
  nic.interface_mtu = "1500";
  nic.gids = {{0, "fe80:0000:0000:0000:5054:00ff:fe12:3456", "RoCE v2"},
              {1, "0000:0000:0000:0000:0000:ffff:0a00:0002", "RoCE v2"}};
  return nic;
}

}  // namespace

TEST_CASE("a host with two NICs and two GPUs is found whole") {
  FakeSysfs sysfs;
  sysfs.nic(mlx5("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0", "ens1np0", "0a00:0101"));
  FakeNic second = mlx5("mlx5_1", "pci0000:97/0000:97:01.0/0000:98:00.0", "ens2np0", "0a00:0102");
  second.numa_node = "1";
  second.state = "1: DOWN";
  second.rate = "200 Gb/sec (4X HDR)";
  second.interface_mtu = "1500";
  sysfs.nic(second);
  sysfs.gpu("pci0000:97/0000:97:03.0/0000:9a:00.0", "1");
  sysfs.gpu("pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:04.0/0000:1a:00.0", "0");
  sysfs.numaNode(0);
  sysfs.numaNode(1);
  sysfs.folder("module/nvidia_peermem");

  const Probed probed = probe(sysfs);
  CHECK(probed.notes == std::vector<std::string>{});
  CHECK(probed.environment.origin == Environment::Origin::kProbed);
  CHECK(probed.environment.same_machine);
  CHECK(probed.environment.peer_reachable);
  CHECK(probed.environment.built.has(Transport::kTcp));
  CHECK_FALSE(probed.environment.built.has(Transport::kRdma));
  CHECK(probed.environment.peer.nics.size() == 2);

  REQUIRE(probed.nics().size() == 2);
  const Nic& nic = probed.nics()[0];
  CHECK(nic.name == "mlx5_0");
  CHECK(nic.port == 1);
  CHECK(nic.active);
  CHECK(nic.numa_node == 0);
  CHECK(nic.pci_path == "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0");
  CHECK(nic.speed_gbps == doctest::Approx(400));
  CHECK(nic.link_layer == LinkLayer::kEthernet);
  CHECK(nic.mtu_bytes == 4096);
  CHECK(nic.gpu_direct);
  REQUIRE(nic.gids.size() == 4);
  CHECK(nic.gids[0].type == GidType::kRoceV1);
  CHECK(nic.gids[1].type == GidType::kRoceV2);
  CHECK(nic.gids[3].index == 3);
  CHECK(nic.gids[3].interface == "ens1np0");
  CHECK(toString(nic.gids[3].address) == "::ffff:10.0.1.1");

  CHECK_FALSE(probed.nics()[1].active);
  CHECK(probed.nics()[1].numa_node == 1);
  CHECK(probed.nics()[1].mtu_bytes == 1024);
  CHECK(probed.nics()[1].speed_gbps == doctest::Approx(200));

  const std::vector<Memory>& memories = probed.environment.local.memories;
  REQUIRE(memories.size() == 4);
  CHECK(toString(memories[0].location) == "cpu:0");
  CHECK(memories[1].numa_node == 1);
  CHECK(toString(memories[2].location) == "cuda:0");
  CHECK(memories[2].pci_path == "pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:04.0/0000:1a:00.0");
  CHECK(memories[2].numa_node == 0);
  CHECK(toString(memories[3].location) == "cuda:1");
  CHECK(memories[3].numa_node == 1);
}

TEST_CASE("a software device has no place, and says so") {
  FakeSysfs sysfs;
  sysfs.nic(rxe());
  sysfs.numaNode(0);
  sysfs.folder("module/nvidia_peermem");
  const Probed probed = probe(sysfs);
  REQUIRE(probed.nics().size() == 1);
  CHECK(probed.nics()[0].pci_path.empty());
  CHECK_FALSE(probed.nics()[0].numa_node.has_value());
  CHECK_FALSE(probed.nics()[0].gpu_direct);
  CHECK(probed.nics()[0].active);
  CHECK(probed.nics()[0].speed_gbps == doctest::Approx(2.5));
  CHECK(probed.nics()[0].mtu_bytes == 1024);
  REQUIRE(probed.notes.size() == 1);
  CHECK(probed.noted("rxe0: no PCI device is behind it"));
}

TEST_CASE("an InfiniBand port keeps its GID and has no MTU to derive") {
  FakeSysfs sysfs;
  FakeNic nic = mlx5("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0", "", "0a00:0101");
  nic.link_layer = "InfiniBand";
  nic.gids = {{0, "fe80:0000:0000:0000:b859:9f03:00d4:2a1c", "IB/RoCE v1"},
              {1, "fe80:0000:0000:0000:0000:0000:0000:0000", "IB/RoCE v1"}};
  sysfs.nic(nic);
  const Probed probed = probe(sysfs);
  REQUIRE(probed.nics().size() == 1);
  CHECK(probed.nics()[0].link_layer == LinkLayer::kInfiniband);
  REQUIRE(probed.nics()[0].gids.size() == 1);
  CHECK(probed.nics()[0].gids[0].type == GidType::kIb);
  CHECK(probed.nics()[0].mtu_bytes == 4096);
  CHECK(probed.noted("mlx5_0: path MTU not known before the device is opened; 4096 assumed"));
}

TEST_CASE("a host without RDMA says what that means") {
  FakeSysfs sysfs;
  Probed probed = probe(sysfs);
  CHECK(probed.nics().empty());
  CHECK(probed.environment.local.memories.empty());
  CHECK(probed.noted("no RDMA device: " + sysfs.root() + "/class/infiniband is not there: no RDMA driver is loaded"));
  CHECK(probed.noted("NUMA nodes unknown"));

  sysfs.folder("class/infiniband");
  probed = probe(sysfs);
  CHECK(probed.noted("is empty: no driver has found a device"));

  probed.notes.clear();
  CHECK(probeEnvironment({}, "", probed.notes).local.nics.empty());
  CHECK(probeEnvironment({}, "/dev/null", probed.notes).local.nics.empty());
}

TEST_CASE("a device with several ports is entered with the active one") {
  FakeSysfs sysfs;
  FakeNic nic = mlx5("mlx4_0", "pci0000:15/0000:15:01.0/0000:16:00.0", "ens1", "0a00:0101");
  nic.state = "1: DOWN";
  sysfs.nic(nic);
  const std::string port = "class/infiniband/mlx4_0/ports/2";
  sysfs.file(port + "/state", "4: ACTIVE\n");
  sysfs.file(port + "/link_layer", "Ethernet\n");
  sysfs.file(port + "/rate", "40 Gb/sec (4X QDR)\n");
  const Probed probed = probe(sysfs);
  REQUIRE(probed.nics().size() == 1);
  CHECK(probed.nics()[0].port == 2);
  CHECK(probed.nics()[0].active);
  CHECK(probed.noted("mlx4_0: has 2 ports, of which port 2 is used"));
}

TEST_CASE("what is garbage is left unknown and named, and the rest is still read") {
  FakeSysfs sysfs;
  FakeNic odd = mlx5("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0", "ens1", "0a00:0101");
  odd.numa_node = "zero";
  odd.state = "ACTIVE";
  odd.rate = "\x1b[31mfast";
  odd.interface_mtu = "jumbo";
  odd.gids.push_back({5, "not a gid", "RoCE v2"});
  odd.gids.push_back({6, "2001:0db8:0000:0000:0000:0000:0000:0001", "RoCE v9"});
  odd.gids.push_back({7, "2001:0db8:0000:0000:0000:0000:0000:0002", ""});
  sysfs.nic(odd);
  sysfs.file("class/infiniband/mlx5_0/ports/1/gids/readme", "not an index\n");
  sysfs.file("class/infiniband/mlx5_0/ports/1/gids/-1", "not an index\n");

  const Probed probed = probe(sysfs);
  REQUIRE(probed.nics().size() == 1);
  CHECK_FALSE(probed.nics()[0].active);
  CHECK_FALSE(probed.nics()[0].numa_node.has_value());
  CHECK(probed.nics()[0].speed_gbps == 0);
  CHECK(probed.nics()[0].mtu_bytes == 4096);
  CHECK(probed.nics()[0].gids.size() == 4);
  CHECK(probed.noted("mlx5_0: the state of its port is unknown; taken as not ACTIVE"));
  CHECK(probed.noted("mlx5_0: speed unknown: the rate reads \"\\x1b[31mfast\""));
  CHECK(probed.noted("mlx5_0: 3 GIDs left out, as their address or type cannot be read: index 5, 6, 7"));
  CHECK(probed.noted("mlx5_0: NUMA node unknown"));
  CHECK(probed.noted("mlx5_0: path MTU not known"));
}

TEST_CASE("things that are no attributes neither block nor break the probe") {
  FakeSysfs sysfs;
  sysfs.folder("class/infiniband/empty");
  sysfs.file("class/infiniband/a_file", "mlx5_9\n");
  sysfs.file("class/infiniband/opa/ports/1/link_layer", "Unspecified\n");
  sysfs.link("class/infiniband/dangling", "devices/gone");
  std::filesystem::create_symlink("loop", sysfs.at("class/infiniband/loop"));
  sysfs.nic(mlx5("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0", "ens1", "0a00:0101"));
  const std::string port = "class/infiniband/mlx5_0/ports/1/";
  std::filesystem::remove(sysfs.at(port + "rate"));
  REQUIRE(mkfifo(sysfs.at(port + "rate").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/proc/self/mem", sysfs.at(port + "gid_attrs/types/4"));  // opens, but does not read
  sysfs.file(port + "gids/4", "2001:0db8:0000:0000:0000:0000:0000:0001\n");
  std::filesystem::remove(sysfs.at(port + "gids/3"));
  sysfs.folder(port + "gids/3");
  sysfs.file(port + "state", "4: ACTIVE\n" + std::string(100000, 'x'));
  sysfs.file("bus/pci/drivers/nvidia/bind", "");
  sysfs.file("bus/pci/drivers/nvidia/0000:zz:00.0", "");
  sysfs.file("devices/system/node/node99999/cpulist", "");

  const Probed probed = probe(sysfs);
  REQUIRE(probed.nics().size() == 1);
  CHECK(probed.nics()[0].active);
  CHECK(probed.nics()[0].speed_gbps == 0);
  CHECK(probed.nics()[0].gids.size() == 3);
  CHECK(probed.noted("mlx5_0: 2 GIDs left out, as their address or type cannot be read: index 3, 4"));
  CHECK(probed.environment.local.memories.empty());
  for (std::string_view name : {"empty", "a_file", "dangling", "loop"}) {
    CHECK(probed.noted(std::string(name) + ": left out: it has no port"));
  }
  CHECK(probed.noted("opa: left out: its link layer is \"Unspecified\""));
}

TEST_CASE("GPUs are numbered by PCI address, and what is no GPU is not one") {
  FakeSysfs sysfs;
  sysfs.gpu("pci10000:00/10000:00:01.0/10000:01:00.0", "1");
  sysfs.gpu("pci2000:a0/2000:a0:01.0/2000:a1:00.0", "-1");
  sysfs.gpu("pci0000:15/0000:15:01.0/0000:16:00.0", "0");
  sysfs.gpu("pci0000:05/0000:05:01.0/0000:06:00.0", "0", "0x068000");
  const std::vector<Memory> memories = probe(sysfs).environment.local.memories;
  REQUIRE(memories.size() == 3);
  CHECK(memories[0].pci_path == "pci0000:15/0000:15:01.0/0000:16:00.0");
  CHECK(memories[1].pci_path == "pci2000:a0/2000:a0:01.0/2000:a1:00.0");
  CHECK_FALSE(memories[1].numa_node.has_value());
  CHECK(memories[2].pci_path == "pci10000:00/10000:00:01.0/10000:01:00.0");
}

TEST_CASE("without nvidia-peermem no NIC is taken to reach GPU memory") {
  FakeSysfs sysfs;
  sysfs.nic(mlx5("mlx5_0", "pci0000:15/0000:15:01.0/0000:16:00.0", "ens1", "0a00:0101"));
  CHECK_FALSE(probe(sysfs).noted("nvidia_peermem"));  // nothing to say on a host without GPUs
  sysfs.gpu("pci0000:15/0000:15:02.0/0000:19:00.0", "0");
  const Probed probed = probe(sysfs);
  CHECK_FALSE(probed.nics()[0].gpu_direct);
  CHECK(probed.noted("nvidia_peermem is not loaded"));
}

TEST_CASE("the RoCE MTU leaves room for headers in that of the interface") {
  struct {
    int interface_mtu;
    int roce_mtu;
  } const cases[] = {{9000, 4096}, {4200, 4096}, {4192, 4096}, {4191, 2048}, {2144, 2048}, {2143, 1024}, {1500, 1024},
                     {1119, 512},  {607, 256},   {352, 256},   {351, 0},     {0, 0},       {-1, 0},      {65536, 4096}};
  for (const auto& [interface_mtu, roce_mtu] : cases) {
    CAPTURE(interface_mtu);
    CHECK(roceMtuOf(interface_mtu) == roce_mtu);
  }
}
