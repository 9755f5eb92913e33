#include "plan/nic_choice.h"

#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "unit/plan/two_hosts.h"

using namespace tent;
using namespace tent::test;

namespace {

void setGids(Nic& nic, std::vector<Gid> gids) {
  nic.gids = std::move(gids);
}

void toInfiniband(HostInventory& host) {
  for (Nic& n : host.nics) {
    n.link_layer = LinkLayer::kInfiniband;
    n.gids = {gid(0, GidType::kIb, "fe80::b859:9f03:d4:2a1c")};
  }
}

}  // namespace

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
