#include "plan/planner.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace tent {
namespace {

constexpr Transport kShm = Transport::kShm, kTcp = Transport::kTcp, kRdma = Transport::kRdma;
constexpr MemoryLocation kGpu0{MemoryKind::kCuda, 0};
constexpr MemoryLocation kGpu1{MemoryKind::kCuda, 1};

Nic nicNamed(std::string name) {
  Nic nic;
  nic.name = std::move(name);
  nic.speed_gbps = 100;
  Gid gid;
  gid.index = 3;
  gid.address = *parseGid("::ffff:10.0.0.1");
  nic.gids = {gid};
  return nic;
}

// Two hosts with a NIC and a GPU each, and a request between them.
struct Setup {
  PolicySet policies;
  PlanSettings settings;
  Environment environment = referenceEnvironment();
  RequestedIntent requested;
  TransferShape shape;
  EffectivePolicy effective;

  Setup() {
    requested.length = 1u << 20;
    requested.normalized = Normalized::kAll;
    environment.same_machine = false;
    for (HostInventory* host : {&environment.local, &environment.peer}) {
      host->nics = {nicNamed("mlx5_0")};
      host->memories.push_back({kGpu0, std::nullopt, ""});
    }
  }
  Setup& with(TransportList transports) {
    TransportPolicy policy;
    policy.name = "p";
    policy.transports = transports;
    policies.transport_policies = {policy};
    return *this;
  }
  Setup& gpus() {
    shape.local_memory = shape.remote_memory = kGpu0;
    return *this;
  }
  PlanOutcome run() {
    shape.length = requested.length;
    shape.same_machine = environment.same_machine;
    REQUIRE_FALSE(resolve(requested, shape, Tenant(PolicyName("default"), policies), policies, environment.built,
                          ValidationMode::kStrict, effective));
    return makePlan(requested, effective, shape, policies, settings, environment);
  }
};

std::string reasonFor(const std::vector<Rejected>& rejected, Transport backend) {
  const auto it =
      std::find_if(rejected.begin(), rejected.end(), [&](const Rejected& r) { return r.backend == backend; });
  return it == rejected.end() ? "" : std::string(nameOf(it->reason));
}

TEST_CASE("the first authorized transport that can carry the request is planned, the others that can are fallbacks") {
  Setup setup;
  const PlanOutcome outcome = setup.with({kShm, kRdma, kTcp}).run();
  CHECK_FALSE(outcome.error);
  CHECK(outcome.plan.path_kind == PathKind::kDirect);
  CHECK(outcome.plan.primary == kRdma);
  CHECK(outcome.plan.fallbacks == TransportList{kTcp});
  CHECK(reasonFor(outcome.plan.rejected, kShm) == "not_same_machine");
  REQUIRE(outcome.plan.stages.size() == 1);
  const Stage& stage = outcome.plan.stages[0];
  CHECK(stage.local_device == "mlx5_0");
  CHECK(stage.remote_device == "mlx5_0");
  CHECK(stage.slice_bytes == 65536);
  CHECK(stage.slices == 16);
}

TEST_CASE("the last slice may be short, and a request smaller than a slice is one") {
  Setup setup;
  setup.with({kRdma}).requested.length = 65537;
  CHECK(setup.run().plan.stages[0].slices == 2);
  setup.requested.length = 1;
  CHECK(setup.run().plan.stages[0].slices == 1);
  CHECK(setup.run().plan.stages[0].slice_bytes == 1);
  setup.requested.length = UINT64_MAX;
  CHECK(setup.run().plan.stages[0].slices == (uint64_t{1} << 48));
}

TEST_CASE("what is built but not authorized is rejected as such") {
  Setup setup;
  const PlanOutcome outcome = setup.with({kTcp}).run();
  CHECK(outcome.plan.primary == kTcp);
  CHECK(reasonFor(outcome.plan.rejected, kShm) == "not_authorized");
  CHECK(reasonFor(outcome.plan.rejected, kRdma) == "not_authorized");
  CHECK(outcome.plan.rejected.size() == 2);
}

TEST_CASE("each candidate has the first reason that stands against it") {
  Setup setup;
  setup.with({kRdma, Transport::kNvlink, kTcp});
  const auto reason = [&](Transport backend) {
    const PlanOutcome outcome = setup.run();
    return reasonFor(outcome.plan.rejected, backend);
  };
  CHECK(reason(Transport::kNvlink) == "not_built");
  setup.environment.unhealthy.add(kRdma);
  CHECK(reason(kRdma) == "unhealthy");
  setup.environment.peer_lacks.add(kRdma);
  CHECK(reason(kRdma) == "peer_lacks");
  setup.policies.transport_policies[0].qp_pool = "nowhere";
  CHECK(reason(kRdma) == "qp_pool_missing");
  setup.policies.transport_policies[0].devices = {"mlx5_9"};
  CHECK(reason(kRdma) == "device_missing");
  setup.shape.local_memory = kGpu1;
  CHECK(reason(kRdma) == "memory_pair_unsupported");
  setup.settings.disabled.add(kRdma);
  CHECK(reason(kRdma) == "disabled");
  setup.environment.built.remove(kRdma);
  CHECK(reason(kRdma) == "not_built");
}

TEST_CASE("a device that the host lacks is named, and nothing falls open to the others") {
  Setup setup;
  setup.with({kRdma, kTcp}).policies.transport_policies[0].devices = {"mlx5_0", "mlx5_9"};
  const PlanOutcome outcome = setup.run();
  CHECK(outcome.plan.primary == kTcp);
  CHECK(messageOf(outcome.plan.rejected[0]).find("mlx5_9") != std::string::npos);
}

TEST_CASE("a hint that cannot carry the request is an error, and what could is excluded by the hint") {
  Setup setup;
  setup.with({kTcp, kShm, kRdma}).requested.transport_hint = kShm;
  const PlanOutcome outcome = setup.run();
  CHECK(outcome.error.reason == Reason::kHintUnavailable);
  CHECK(outcome.error.field == Field::kTransportHint);
  CHECK(reasonFor(outcome.plan.rejected, kShm) == "not_same_machine");
  CHECK(reasonFor(outcome.plan.rejected, kTcp) == "hint_excluded");
  CHECK(reasonFor(outcome.plan.rejected, kRdma) == "hint_excluded");
}

TEST_CASE("after a hint that works, failover walks the rest of the list in its order") {
  Setup setup;
  setup.with({kRdma, kTcp}).requested.transport_hint = kTcp;
  const PlanOutcome outcome = setup.run();
  CHECK(outcome.plan.primary == kTcp);
  CHECK(outcome.plan.fallbacks == TransportList{kRdma});
}

TEST_CASE("a peer that cannot be reached leaves no transport") {
  Setup setup;
  setup.with({kRdma, kTcp}).environment.peer_reachable = false;
  const PlanOutcome outcome = setup.run();
  CHECK(outcome.error.reason == Reason::kNoTransport);
  CHECK(outcome.plan.rejected.size() == 3);
}

TEST_CASE("GPU memory goes directly where a NIC can register it, else through host memory, else not at all") {
  Setup setup;
  setup.with({kTcp, kRdma}).gpus();
  CHECK(setup.run().error.reason == Reason::kNoTransport);

  setup.environment.local.gpu_copy = setup.environment.peer.gpu_copy = true;
  setup.requested.opcode = Opcode::kWrite;
  const PlanOutcome staged = setup.run();
  CHECK_FALSE(staged.error);
  CHECK(staged.plan.path_kind == PathKind::kStaged);
  CHECK(staged.plan.primary == kTcp);
  CHECK(staged.plan.fallbacks == TransportList{kRdma});
  REQUIRE(staged.plan.stages.size() == 3);
  CHECK(staged.plan.stages[0].type == StageType::kCopy);
  CHECK(staged.plan.stages[0].local_device == "cuda:0");
  CHECK(staged.plan.stages[1].type == StageType::kTransfer);
  CHECK(staged.plan.stages[2].remote_device == "cuda:0");

  setup.environment.local.nics[0].gpu_direct = setup.environment.peer.nics[0].gpu_direct = true;
  const PlanOutcome direct = setup.run();
  CHECK(direct.plan.path_kind == PathKind::kDirect);
  CHECK(direct.plan.primary == kRdma);
  CHECK(direct.plan.fallbacks == TransportList{kTcp});
  CHECK(direct.plan.staged_fallbacks.has(kTcp));
}

TEST_CASE("a read is staged from the peer's side to this one, and only where a memory needs it") {
  Setup setup;
  setup.with({kTcp}).shape.remote_memory = kGpu0;
  setup.environment.peer.gpu_copy = true;
  const PlanOutcome outcome = setup.run();
  REQUIRE(outcome.plan.stages.size() == 2);
  CHECK(outcome.plan.stages[0].type == StageType::kCopy);
  CHECK(outcome.plan.stages[0].remote_device == "cuda:0");
  CHECK(outcome.plan.stages[1].type == StageType::kTransfer);
}

TEST_CASE("forced staging copies on both sides and cuts to chunks") {
  Setup setup;
  setup.with({kTcp}).settings.force_staging = true;
  setup.settings.staging_chunk_bytes = 1000;
  const PlanOutcome outcome = setup.run();
  CHECK(outcome.plan.path_kind == PathKind::kStaged);
  REQUIRE(outcome.plan.stages.size() == 3);
  for (const Stage& stage : outcome.plan.stages) {
    CHECK(stage.bytes == 1u << 20);
    CHECK(stage.slice_bytes == 1000);
    CHECK(stage.slices == 1049);
  }
}

TEST_CASE("a hint is taken by whichever way it can go, whatever the other candidates can do") {
  Setup setup;
  setup.with({kRdma, kTcp}).gpus();
  setup.environment.local.gpu_copy = setup.environment.peer.gpu_copy = true;
  setup.requested.transport_hint = kTcp;
  for (bool gpu_direct : {false, true}) {
    setup.environment.local.nics[0].gpu_direct = setup.environment.peer.nics[0].gpu_direct = gpu_direct;
    const PlanOutcome outcome = setup.run();
    CHECK_FALSE(outcome.error);
    CHECK(outcome.plan.path_kind == PathKind::kStaged);
    CHECK(outcome.plan.primary == kTcp);
    CHECK(outcome.plan.fallbacks == TransportList{kRdma});
  }
}

TEST_CASE("no more fallbacks are planned than max_failover_attempts lets try") {
  Setup setup;
  setup.environment.same_machine = true;
  setup.with({kShm, kRdma, kTcp}).settings.max_failover_attempts = 1;
  CHECK(setup.run().plan.fallbacks == TransportList{kRdma});
  CHECK(setup.run().plan.fallbacks_cut);
  setup.settings.max_failover_attempts = 0;
  CHECK(setup.run().plan.fallbacks.empty());
  setup.settings.max_failover_attempts = 2;
  CHECK_FALSE(setup.run().plan.fallbacks_cut);
}

TEST_CASE("files go over io_uring alone, and are not staged") {
  Setup setup;
  setup.shape.segment_type = SegmentType::kFile;
  CHECK(setup.run().error.reason == Reason::kNoTransport);
  setup.environment.built.add(Transport::kIoUring);
  CHECK(setup.run().plan.primary == Transport::kIoUring);
  setup.settings.force_staging = true;
  CHECK(setup.run().error.reason == Reason::kNoTransport);
}

}  // namespace
}  // namespace tent
