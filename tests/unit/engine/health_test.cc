// What an engine does with a transport that keeps failing.
#include <algorithm>

#include <doctest/doctest.h>

#include "base/clock.h"
#include "engine/transport_health.h"
#include "unit/engine/scripted.h"

namespace tent {
namespace {

ExecutionPlan planOf(Scripted& scripted, Transport hint = Transport::kUnspec) {
  const Request request = scripted.engines.request(Opcode::kWrite, 0, 4096, hint);
  auto decision = scripted.engines.initiator->explain(request, ValidationMode::kStrict, monotonicNowNs()).decision;
  REQUIRE_FALSE(decision.error);
  return *decision.plan;
}

bool isUnhealthy(const std::vector<Rejected>& rejected, Transport transport) {
  return std::ranges::any_of(rejected, [&](const Rejected& one) {
    return one.backend == transport && one.reason == RejectReason::kUnhealthy;
  });
}

// Until the pause that began last has ended.
void outwait(Engine& engine) {
  const BatchId batch = engine.allocateBatch(1).value();
  const uint64_t until_ns = monotonicNowNs() + TransportHealth::kFirstPauseNs;
  while (monotonicNowNs() < until_ns) static_cast<void>(engine.wait(batch, 1));
}

void failRdma(Scripted& scripted, uint32_t times = TransportHealth::kFailuresToPause) {
  scripted.rdma->next(FakeScript::failUntouched(Reason::kIoError), times);
  for (uint32_t i = 0; i < times; ++i) CHECK(scripted.run().attempt_count == 2);
}

}  // namespace

TEST_CASE("a transport that keeps failing is paused: plans say so, nothing is tried over it, and it comes back") {
  Scripted scripted;
  failRdma(scripted, TransportHealth::kFailuresToPause - 1);
  CHECK(planOf(scripted).primary == Transport::kRdma);
  failRdma(scripted, 1);

  const size_t seen = scripted.rdma->seen().size();
  const ExecutionPlan paused = planOf(scripted);
  CHECK(paused.primary == Transport::kTcp);
  CHECK(isUnhealthy(paused.rejected, Transport::kRdma));
  const TaskReport report = scripted.run();
  CHECK(report.carriedBy() == Transport::kTcp);
  CHECK(report.attempt_count == 1);
  CHECK(scripted.rdma->seen().size() == seen);
  const auto transports = scripted.engines.initiator->metrics().transports;
  CHECK(std::ranges::find(transports, Transport::kRdma, &EngineMetrics::TransportCount::transport)->pauses == 1);

  outwait(*scripted.engines.initiator);
  CHECK(planOf(scripted).primary == Transport::kRdma);
  CHECK(scripted.run().carriedBy() == Transport::kRdma);
}

TEST_CASE("one incident is one failure, however many tasks it took with it") {
  Scripted scripted;
  scripted.rdma->next(FakeScript::closeLink(Reason::kPeerLost));
  const std::vector<Request> requests(100, scripted.engines.request(Opcode::kWrite, 0, 64));
  scripted.engines.run(requests);
  CHECK(planOf(scripted).primary == Transport::kRdma);
}

TEST_CASE("a hint to a paused transport is refused, and never leaves the allowlist") {
  Scripted scripted(R"({"qos": {"defaults": {"allowed_transports": ["rdma", "tcp"]}},
      "policy": [{"segment_type": "memory", "transports": ["rdma", "tcp"]}]})");
  failRdma(scripted);
  CHECK(scripted.engines.refused({scripted.engines.request(Opcode::kWrite, 0, 64, Transport::kRdma)}).reason ==
        Reason::kHintUnavailable);
  CHECK(planOf(scripted, Transport::kTcp).primary == Transport::kTcp);
}

TEST_CASE("where only what is paused is authorized, it is tried all the same") {
  Scripted scripted(R"({"policy": [{"segment_type": "memory", "transports": ["rdma"]}]})");
  scripted.rdma->next(FakeScript::failUntouched(Reason::kIoError), TransportHealth::kFailuresToPause);
  for (uint32_t i = 0; i < TransportHealth::kFailuresToPause; ++i) {
    CHECK(scripted.run().status.state == TaskState::kFailed);
  }
  CHECK(planOf(scripted).primary == Transport::kRdma);
  CHECK(scripted.run().carriedBy() == Transport::kRdma);
  CHECK(scripted.tcp->seen().empty());
}

TEST_CASE("where all that is authorized is paused, it is tried in the plan's order, hints included") {
  Scripted scripted;
  scripted.rdma->next(FakeScript::failUntouched(Reason::kPeerLost), TransportHealth::kFailuresToPause);
  scripted.tcp->next(FakeScript::failUntouched(Reason::kPeerLost), TransportHealth::kFailuresToPause);
  for (uint32_t i = 0; i < TransportHealth::kFailuresToPause; ++i) {
    CHECK(scripted.run().status.state == TaskState::kFailed);
  }
  CHECK(planOf(scripted).primary == Transport::kRdma);
  CHECK(planOf(scripted, Transport::kTcp).primary == Transport::kTcp);
  CHECK(scripted.run().carriedBy() == Transport::kRdma);
}

TEST_CASE("a failover passes over what was paused meanwhile, unless nothing else is left") {
  for (const bool tcp_too : {true, false}) {
    CAPTURE(tcp_too);
    Scripted scripted(
        std::string(R"({"policy": [{"name": "all", "segment_type": "memory", "transports": ["shm", "rdma")") +
            (tcp_too ? R"(, "tcp")" : "") +
            R"(]}, {"name": "only-rdma", "segment_type": "memory", "transports": ["rdma"]}]})",
        1);
    Engine& engine = *scripted.engines.initiator;
    // The second is planned, and waits behind the first, before rdma is paused.
    scripted.shm->next(FakeScript::hold());
    scripted.shm->next(FakeScript::failUntouched(Reason::kIoError));
    const std::vector<Request> two(2, scripted.engines.request(Opcode::kWrite, 0, 64));
    const BatchId batch = engine.allocateBatch(2).value();
    REQUIRE(engine.submit(batch, two, ValidationMode::kStrict));
    REQUIRE(scripted.shm->waitHeld(1, kWatchdogNs));
    scripted.rdma->next(FakeScript::failUntouched(Reason::kIoError), TransportHealth::kFailuresToPause);
    Request over_rdma = scripted.engines.request(Opcode::kWrite, 0, 64);
    over_rdma.fields.policy_name = "only-rdma";
    for (uint32_t i = 0; i < TransportHealth::kFailuresToPause; ++i) scripted.engines.run({over_rdma});

    scripted.shm->release();
    REQUIRE(engine.wait(batch, kWatchdogNs).value());
    CHECK(scripted.engines.report(batch, 1).attempt_count == 2);
    CHECK(scripted.engines.report(batch, 1).carriedBy() == (tcp_too ? Transport::kTcp : Transport::kRdma));
  }
}

}  // namespace tent
