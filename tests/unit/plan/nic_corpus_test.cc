#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "config/environment_reader.h"
#include "config/fault.h"
#include "config/json_value.h"
#include "plan/nic_choice.h"
#include "unit/plan/two_hosts.h"

using namespace tent;
using tent::test::between;

namespace {

Environment load(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE_MESSAGE(in.good(), path.string());
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  FaultList faults(path.filename().string());
  const std::optional<JsonValue> document = parseJson(text, faults);
  REQUIRE_MESSAGE(document.has_value(), faults.format());
  Environment environment = readEnvironment(*document, faults);
  REQUIRE_MESSAGE(faults.faults().empty(), faults.format());
  return environment;
}

Environment corpus(std::string_view name) {
  return load(std::filesystem::path(TENT_CORPUS) / "environments" / name);
}

std::string pair(const Environment& environment, std::string_view local, std::string_view remote) {
  NicTrace trace;
  chooseNics(environment, between(local, remote), &trace);
  return trace.pair;
}

// "mlx5_3 mlx5_3 4096"
std::string choose(const Environment& environment, std::string_view local, std::string_view remote) {
  const NicResult result = chooseNics(environment, between(local, remote));
  if (result.failure != NicFailure::kNone) return fmt::format("failure {}", static_cast<int>(result.failure));
  const NicChoice& choice = result.choice;
  return fmt::format("{} {} {}", choice.local.nic->name, choice.remote.nic->name, choice.path_mtu_bytes);
}

}  // namespace

TEST_CASE("every environment of the corpus loads, and describes itself consistently") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TENT_CORPUS) / "environments")) {
    CAPTURE(entry.path().string());
    ++files;
    const Environment environment = load(entry.path());
    for (const HostInventory* host : {&environment.local, &environment.peer}) {
      CHECK_FALSE(host->name.empty());
      for (const Nic& nic : host->nics) CHECK_FALSE(nic.gids.empty());
    }
  }
  CHECK(files == 5);
}

TEST_CASE("8 NICs: every GPU has its own, and the pair is explained") {
  const Environment environment = corpus("h20-8nic.json");
  for (int i = 0; i < 8; ++i) {
    const std::string gpu = fmt::format("cuda:{}", i);
    CHECK(choose(environment, gpu, gpu) == fmt::format("mlx5_{0} mlx5_{0} 4096", i));
  }
  CHECK(pair(environment, "cuda:3", "cuda:6") ==
        "mlx5_3 gid 3 (RoCE v2 10.10.3.11) <-> mlx5_6 gid 3 (RoCE v2 10.10.6.12), path MTU 4096: both IPv4");
  CHECK(choose(environment, "cpu", "cpu") == "mlx5_0 mlx5_0 4096");
  CHECK(choose(environment, "cpu:1", "cpu:1") == "mlx5_4 mlx5_4 4096");
}

TEST_CASE("4 NICs: the two GPUs below a switch share its NIC") {
  const Environment environment = corpus("h20-4nic.json");
  for (int i = 0; i < 8; ++i) {
    const std::string gpu = fmt::format("cuda:{}", i);
    CHECK(choose(environment, gpu, gpu) == fmt::format("mlx5_bond_{0} mlx5_bond_{0} 4096", i / 2));
  }
  NicTrace trace;
  chooseNics(environment, between("cuda:5", "cuda:0"), &trace);
  CHECK(trace.local[0].name == "mlx5_bond_2");
  CHECK(trace.local[0].why == "same PCIe switch as cuda:5, 400 Gb/s");
  CHECK(trace.local[1].why == "same NUMA node as cuda:5, 400 Gb/s");
  CHECK(trace.local[2].why == "another NUMA node than cuda:5, 400 Gb/s");
}

TEST_CASE("link-local first: the usable GID is found behind those that are not") {
  const Environment environment = corpus("h20-link-local-first.json");
  CHECK(pair(environment, "cuda:0", "cuda:0") ==
        "mlx5_0 gid 5 (RoCE v2 10.10.0.11) <-> mlx5_0 gid 5 (RoCE v2 10.10.0.12), path MTU 4096: both IPv4");
  CHECK(pair(environment, "cuda:5", "cuda:5") ==
        "mlx5_5 gid 5 (RoCE v2 2001:db8:10:5::b) <-> mlx5_5 gid 5 (RoCE v2 2001:db8:10:5::c), path MTU 4096: both "
        "IPv6, as "
        "not both have an IPv4 address");
  // Staying on mlx5_5 would take the peer's data through its other socket.
  CHECK(choose(environment, "cuda:5", "cuda:0") == "mlx5_4 mlx5_0 4096");
  CHECK(pair(environment, "cuda:5", "cuda:0").ends_with("; mlx5_5 <-> mlx5_0 passed over: IPv6 here, IPv4 there"));
  CHECK(choose(environment, "cuda:6", "cuda:6") == "mlx5_4 mlx5_6 4096");
  CHECK(choose(environment, "cuda:7", "cuda:7") == "mlx5_7 mlx5_4 4096");

  NicTrace trace;
  chooseNics(environment, between("cuda:6", "cuda:7"), &trace);
  CHECK(trace.local.back().name == "mlx5_6");
  CHECK(trace.local.back().why.starts_with("excluded: only link-local and RoCE v1 GIDs (index 0 RoCE v1 fe80::"));
  CHECK(trace.remote.back().name == "mlx5_7");
  CHECK(trace.remote.back().why.ends_with(", index 1 RoCE v1 10.10.7.12)"));
}

TEST_CASE("asymmetric: each end answers for itself, and the pair takes the smaller MTU") {
  const Environment environment = corpus("h20-asymmetric.json");
  CHECK(choose(environment, "cuda:0", "cuda:0") == "mlx5_0 mlx5_bond_0 4096");
  CHECK(choose(environment, "cuda:1", "cuda:0") == "mlx5_0 mlx5_bond_0 4096");  // mlx5_1 is down
  CHECK(choose(environment, "cuda:2", "cuda:0") == "mlx5_2 mlx5_bond_0 4096");  // slower, but below the switch
  CHECK(choose(environment, "cuda:7", "cuda:7") == "mlx5_7 mlx5_bond_2 4096");  // mlx5_bond_3 reaches no GPU memory
  CHECK(choose(environment, "cuda:7", "cpu:1") == "mlx5_7 mlx5_bond_2 4096");
  CHECK(pair(environment, "cuda:3", "cuda:3") ==
        "mlx5_3 gid 3 (RoCE v2 10.10.3.11) <-> mlx5_bond_1 gid 3 (RoCE v2 10.30.1.12), path MTU 1024 (of 4096 here and "
        "1024 "
        "there): both IPv4");
  NicTrace trace;
  chooseNics(environment, between("cuda:1", "cuda:7"), &trace);
  CHECK(trace.local.back().why == "excluded: port is not ACTIVE");
  CHECK(trace.remote.back().why ==
        "excluded: cannot register the memory of cuda:7 (neither nvidia-peermem nor dma-buf)");
}

TEST_CASE("a host without NICs has no pair") {
  CHECK(pair(corpus("host-only.json"), "cpu", "cpu") == "no pair: this host has no RDMA device");
}
