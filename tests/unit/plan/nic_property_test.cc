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
