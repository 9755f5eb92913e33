// What becomes of attempts that fail, and the order in which tasks are dispatched: with transports that fail as the
// test says.
#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

#include "unit/engine/scripted.h"

namespace tent {

TEST_CASE("the plan's primary carries what does not fail") {
  Scripted scripted;
  const TaskReport report = scripted.run();
  CHECK(report.carriedBy() == Transport::kRdma);
  CHECK(report.attempt_count == 1);
  CHECK(scripted.tcp->seen().empty());
}

TEST_CASE("a failure that left nothing to come is repeated over the next transport, and recorded") {
  for (const FakeScript::Fate& fate :
       {FakeScript::failUntouched(Reason::kIoError), FakeScript::failSettled(Reason::kPeerLost, 100)}) {
    Scripted scripted;
    scripted.rdma->next(fate);
    fill(scripted.engines.local.data(), 4096, 1);
    const TaskReport report = scripted.run();
    CHECK(report.status.state == TaskState::kCompleted);
    CHECK(report.carriedBy() == Transport::kTcp);
    REQUIRE(report.attempt_count == 2);
    CHECK(report.attempts[0].transport == Transport::kRdma);
    CHECK(report.attempts[0].reason == fate.reason);
    CHECK(report.attempts[0].aftermath == fate.aftermath);
    CHECK(report.attempts[1].reason == Reason::kNone);
    CHECK(std::memcmp(scripted.engines.local.data(), scripted.engines.remote, 4096) == 0);
  }
}

TEST_CASE("a failure after which more may come is not repeated") {
  Scripted scripted;
  scripted.rdma->next(FakeScript::failUnsettled(Reason::kPeerLost, 100));
  const TaskReport report = scripted.run();
  CHECK(report.status.state == TaskState::kFailed);
  CHECK(report.status.transferred_bytes == 0);
  CHECK(report.error.reason == Reason::kPeerLost);
  CHECK(report.attempt_count == 1);
  CHECK(scripted.tcp->seen().empty());
}

TEST_CASE("when every transport fails, the last failure is the task's") {
  Scripted scripted;
  scripted.rdma->next(FakeScript::failUntouched(Reason::kIoError));
  scripted.tcp->next(FakeScript::failUntouched(Reason::kPeerLost));
  const TaskReport report = scripted.run();
  CHECK(report.status.state == TaskState::kFailed);
  CHECK(report.error.reason == Reason::kPeerLost);
  CHECK(report.attempt_count == 2);
}

TEST_CASE("max_failover_attempts bounds what is tried") {
  Scripted scripted(
      R"({"max_failover_attempts": 0, "policy": [{"segment_type": "memory", "transports": ["rdma", "tcp"]}]})");
  scripted.rdma->next(FakeScript::failUntouched(Reason::kIoError));
  const TaskReport report = scripted.run();
  CHECK(report.status.state == TaskState::kFailed);
  CHECK(report.attempt_count == 1);
}

TEST_CASE("a transport that cannot be connected is an attempt like others") {
  Scripted scripted;
  scripted.rdma->refuseConnections(true);
  const TaskReport report = scripted.run(Opcode::kRead);
  CHECK(report.carriedBy() == Transport::kTcp);
  REQUIRE(report.attempt_count == 2);
  CHECK(report.attempts[0].reason == Reason::kPeerUnreachable);
  scripted.rdma->refuseConnections(false);
  CHECK(scripted.run().carriedBy() == Transport::kRdma);
}

TEST_CASE("a link that ends takes only what it carried with it") {
  Scripted scripted(R"({"policy": [{"segment_type": "memory", "transports": ["rdma", "tcp"]}]})", 1);
  scripted.rdma->next(FakeScript::closeLink(Reason::kPeerLost));
  const std::vector<Request> requests(10, scripted.engines.request(Opcode::kWrite, 0, 64));
  const BatchId batch = scripted.engines.run(requests);
  CHECK(scripted.engines.initiator->batchStatus(batch).value().state == TaskState::kCompleted);
  size_t over_rdma = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (scripted.engines.report(batch, i).carriedBy() == Transport::kRdma) ++over_rdma;
  }
  CHECK(over_rdma == 9);
}

TEST_CASE("what is urgent is dispatched first, and equals in the order of their arrival") {
  Scripted scripted(R"({"policy": [{"segment_type": "memory", "transports": ["rdma"]}]})", 1);
  scripted.rdma->next(FakeScript::hold());
  Engine& engine = *scripted.engines.initiator;
  const BatchId first = engine.allocateBatch(1).value();
  const Request blocker = scripted.engines.request(Opcode::kWrite, 0, 1);
  REQUIRE(engine.submit(first, {&blocker, 1}, ValidationMode::kStrict));
  REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));

  // Lengths tell the requests apart: 100s are low, 200s medium, 300s high.
  std::vector<Request> requests;
  for (const auto& [priority, length] :
       std::vector<std::pair<RequestedPriority, uint64_t>>{{RequestedPriority::kLow, 100},
                                                           {RequestedPriority::kHigh, 300},
                                                           {RequestedPriority::kMedium, 200},
                                                           {RequestedPriority::kLow, 101},
                                                           {RequestedPriority::kHigh, 301},
                                                           {RequestedPriority::kUnspec, 302}}) {
    Request request = scripted.engines.request(Opcode::kWrite, 0, length);
    request.fields.priority = static_cast<int32_t>(priority);
    requests.push_back(request);
  }
  const BatchId second = engine.allocateBatch(requests.size()).value();
  REQUIRE(engine.submit(second, requests, ValidationMode::kStrict));
  scripted.rdma->release();
  REQUIRE(engine.wait(second, kWatchdogNs).value());
  std::vector<uint64_t> lengths;
  for (const FakeScript::Seen& seen : scripted.rdma->seen()) lengths.push_back(seen.length);
  CHECK(lengths == std::vector<uint64_t>{1, 300, 301, 302, 200, 100, 101});
}

TEST_CASE("a task that waits is cancelled at once; one that was handed over goes on") {
  Scripted scripted(R"({"policy": [{"segment_type": "memory", "transports": ["rdma", "tcp"]}]})", 1);
  scripted.rdma->next(FakeScript::hold());
  Engine& engine = *scripted.engines.initiator;
  const BatchId batch = engine.allocateBatch(2).value();
  const std::vector<Request> requests(2, scripted.engines.request(Opcode::kWrite, 0, 10));
  REQUIRE(engine.submit(batch, requests, ValidationMode::kStrict));
  REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));
  CHECK_FALSE(engine.cancel(batch, 1));
  CHECK(engine.taskStatus(batch, 1).value().state == TaskState::kCanceled);
  CHECK_FALSE(engine.cancel(batch, 1));
  CHECK(engine.taskStatus(batch, 0).value().state == TaskState::kPending);
  CHECK_FALSE(engine.wait(batch, 0).value());
  scripted.rdma->release();
  REQUIRE(engine.wait(batch, kWatchdogNs).value());
  CHECK(engine.taskStatus(batch, 0).value().state == TaskState::kCompleted);
  CHECK(engine.batchStatus(batch).value().state == TaskState::kCanceled);
  CHECK(scripted.tcp->seen().empty());
}

TEST_CASE("a task whose attempt fails after it was cancelled is not tried again") {
  Scripted scripted;
  scripted.rdma->usually(FakeScript::hold());
  Engine& engine = *scripted.engines.initiator;
  const BatchId batch = engine.allocateBatch(1).value();
  const Request request = scripted.engines.request(Opcode::kWrite, 0, 10);
  REQUIRE(engine.submit(batch, {&request, 1}, ValidationMode::kStrict));
  REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));
  CHECK_FALSE(engine.cancel(batch, 0));
  scripted.engines.target.reset();
  REQUIRE(engine.wait(batch, kWatchdogNs).value());
  CHECK(isTerminal(engine.taskStatus(batch, 0).value().state));
  CHECK(scripted.tcp->seen().empty());
}

TEST_CASE("an engine that is destroyed ends what is held") {
  Scripted scripted;
  scripted.rdma->usually(FakeScript::hold());
  const BatchId batch = scripted.engines.initiator->allocateBatch(1).value();
  const Request request = scripted.engines.request(Opcode::kWrite, 0, 10);
  REQUIRE(scripted.engines.initiator->submit(batch, {&request, 1}, ValidationMode::kStrict));
  REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));
  scripted.engines.initiator.reset();
}

}  // namespace tent
