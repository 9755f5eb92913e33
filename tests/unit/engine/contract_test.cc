// What a tenant's contract and its reload do to the transfers of an engine.
#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

#include "base/clock.h"
#include "engine/admission.h"
#include "unit/engine/scripted.h"

namespace tent {
namespace {

constexpr uint64_t kMinuteNs = 60'000'000'000;

std::string contractOf(const std::string& tenant, const std::string& fields, const std::string& more = "") {
  return R"({"tenant": ")" + tenant + R"(", "qos": {"defaults": {)" + fields +
         R"(}}, "policy": [{"segment_type": "memory", "transports": ["rdma", "tcp"]}])" + more + "}";
}

// The lengths of what reached a transport, in its order.
std::vector<uint64_t> lengthsOf(const FakeScript& script) {
  std::vector<uint64_t> lengths;
  for (const FakeScript::Seen& seen : script.seen()) lengths.push_back(seen.length);
  return lengths;
}

Request with(Request request, RequestedPriority priority, uint64_t deadline_ns = 0) {
  request.fields.priority = static_cast<int32_t>(priority);
  request.fields.deadline = {DeadlineInput::Kind::kAbsolute, deadline_ns};
  return request;
}

struct Batched {
  Batched(Engine& its_engine, const std::vector<Request>& requests)
      : engine(its_engine), id(engine.allocateBatch(std::max<size_t>(requests.size(), 1)).value()) {
    const auto submitted = engine.submit(id, requests, ValidationMode::kStrict);
    if (!submitted) failure = submitted.error();
  }
  bool wait() const { return engine.wait(id, kWatchdogNs).value(); }
  TaskReport report(size_t task = 0) const { return engine.taskReport(id, task).value(); }

  Engine& engine;
  BatchId id;
  SubmitFailure failure;
};

}  // namespace

TEST_CASE("the contract bounds what is in flight; the rest waits, most urgent first") {
  Scripted scripted(contractOf("bounded", R"("max_inflight_requests": 2)"));
  scripted.rdma->usually(FakeScript::hold());
  const uint64_t now_ns = monotonicNowNs();
  const auto request = [&](uint64_t length) { return scripted.engines.request(Opcode::kWrite, 0, length); };
  Engine& engine = *scripted.engines.initiator;
  const Batched batch(engine, {request(1), request(2), with(request(3), RequestedPriority::kLow),
                               with(request(4), RequestedPriority::kHigh, now_ns + 2 * kMinuteNs), request(5),
                               with(request(6), RequestedPriority::kHigh, now_ns + kMinuteNs)});
  REQUIRE_FALSE(batch.failure.error);
  // Those with deadlines are the first, and two fit.
  REQUIRE(scripted.rdma->waitSeen(2, kWatchdogNs));
  CHECK(lengthsOf(*scripted.rdma) == std::vector<uint64_t>{4, 6});
  CHECK(engine.metrics().requests_queued == 4);
  CHECK(engine.metrics().requests_waiting == 4);
  scripted.rdma->release(FakeScript::kAll);
  REQUIRE(batch.wait());
  CHECK(lengthsOf(*scripted.rdma) == std::vector<uint64_t>{4, 6, 1, 2, 5, 3});
  CHECK(engine.batchStatus(batch.id).value().state == TaskState::kCompleted);
  CHECK(engine.metrics().requests_waiting == 0);
  CHECK(engine.metrics().deadlines_met == 2);
  CHECK(engine.metrics().deadlines_missed == 0);
}

TEST_CASE("without a contract nothing waits and nothing is counted") {
  Scripted scripted;
  const std::vector<Request> requests(100, scripted.engines.request(Opcode::kWrite, 0, 64));
  scripted.engines.run(requests);
  CHECK(scripted.engines.initiator->metrics().requests_queued == 0);
}

TEST_CASE("a failed attempt keeps its room until the last one has ended") {
  Scripted scripted(contractOf("failing", R"("max_inflight_requests": 1)"));
  scripted.rdma->next(FakeScript::failUntouched(Reason::kIoError));
  scripted.tcp->next(FakeScript::hold());
  const auto request = scripted.engines.request(Opcode::kWrite, 0, 64);
  const Batched batch(*scripted.engines.initiator, {request, request});
  REQUIRE(scripted.tcp->waitHeld(1, kWatchdogNs));
  CHECK(scripted.rdma->seen().size() == 1);
  scripted.tcp->release();
  REQUIRE(batch.wait());
  CHECK(batch.report(0).attempt_count == 2);
  CHECK(batch.report(1).carriedBy() == Transport::kRdma);
}

TEST_CASE("a full queue refuses the submit as a whole, and nothing of it reaches a transport") {
  Scripted scripted(contractOf("full", R"("max_inflight_requests": 1)"));
  scripted.rdma->usually(FakeScript::hold());
  Engine& engine = *scripted.engines.initiator;
  const auto request = scripted.engines.request(Opcode::kWrite, 0, 64);
  const Batched held(engine, {request});
  const Batched waiting(engine, std::vector<Request>(TenantAdmission::kWaitingMax - 1, request));
  REQUIRE_FALSE(waiting.failure.error);
  const BatchId small = engine.allocateBatch(3).value();
  const std::vector<Request> three(3, request);
  const Notification notification{"n", "m"};
  const auto refused = engine.submit(small, three, ValidationMode::kStrict, &notification);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error.reason == Reason::kAdmissionQueueFull);
  CHECK(refused.error().error.index == 1);
  CHECK(refused.error().failed == 2);
  CHECK(engine.taskCount(small).value() == 0);
  CHECK(scripted.engines.target->receiveNotifications().empty());
  CHECK_FALSE(engine.freeBatch(small));
  const Batched last(engine, {request});
  CHECK_FALSE(last.failure.error);
  CHECK(scripted.rdma->seen().size() == 1);
  // Ends all of them, or the test would hang here.
  scripted.engines.initiator.reset();
}

TEST_CASE("what waits is cancelled at once, and the others go on") {
  Scripted scripted(contractOf("canceling", R"("max_inflight_bytes": "1KiB")"));
  scripted.rdma->next(FakeScript::hold());
  const auto request = scripted.engines.request(Opcode::kWrite, 0, 1024);
  const Batched batch(*scripted.engines.initiator, {request, request, request});
  REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));
  CHECK_FALSE(scripted.engines.initiator->cancel(batch.id, 1));
  CHECK(batch.report(1).status.state == TaskState::kCanceled);
  CHECK(batch.report(1).attempt_count == 0);
  scripted.rdma->release();
  REQUIRE(batch.wait());
  CHECK(batch.report(0).status.state == TaskState::kCompleted);
  CHECK(batch.report(2).status.state == TaskState::kCompleted);
  CHECK(scripted.rdma->seen().size() == 2);
}

TEST_CASE("a deadline is missed by what is canceled after it, and neither missed nor met by what is canceled before") {
  Scripted scripted(contractOf("canceled-late", R"("max_inflight_requests": 1)"));
  scripted.rdma->next(FakeScript::hold());
  Engine& engine = *scripted.engines.initiator;
  const auto request = scripted.engines.request(Opcode::kWrite, 0, 64);
  const Batched held(engine, {request});
  REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));
  const uint64_t soon_ns = monotonicNowNs() + 20'000'000;
  const Batched waiting(engine, {with(request, RequestedPriority::kUnspec, soon_ns),
                                 with(request, RequestedPriority::kUnspec, soon_ns + kMinuteNs)});
  CHECK_FALSE(engine.cancel(waiting.id, 1));
  while (monotonicNowNs() <= soon_ns) static_cast<void>(engine.wait(waiting.id, 1'000'000));
  CHECK_FALSE(engine.cancel(waiting.id, 0));
  scripted.rdma->release();
  REQUIRE(held.wait());
  REQUIRE(waiting.wait());
  CHECK(engine.metrics().deadlines_missed == 1);
  CHECK(engine.metrics().deadlines_met == 0);
}

TEST_CASE("a deadline that passes in the queue: admission says what becomes of it, and it counts as missed") {
  for (const bool reject : {false, true}) {
    CAPTURE(reject);
    const std::string admission = reject ? R"(, "admission": {"expired": "reject"})" : "";
    Scripted scripted(contractOf("late", R"("max_inflight_requests": 1)", admission));
    scripted.rdma->next(FakeScript::hold());
    const auto request = scripted.engines.request(Opcode::kWrite, 0, 64);
    Engine& engine = *scripted.engines.initiator;
    const Batched held(engine, {request});
    REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));
    const uint64_t deadline_ns = monotonicNowNs() + 50'000'000;
    const Batched late(engine, {with(request, RequestedPriority::kUnspec, deadline_ns)});
    REQUIRE_FALSE(late.failure.error);
    while (monotonicNowNs() <= deadline_ns) {
      CHECK_FALSE(engine.wait(late.id, deadline_ns - std::min(deadline_ns, monotonicNowNs()) + 1).value());
    }
    scripted.rdma->release();
    REQUIRE(late.wait());
    REQUIRE(held.wait());
    CHECK(late.report().status.state == (reject ? TaskState::kFailed : TaskState::kCompleted));
    CHECK(late.report().error.reason == (reject ? Reason::kDeadlineExpired : Reason::kNone));
    CHECK(late.report().attempt_count == (reject ? 0 : 1));
    CHECK(engine.metrics().deadlines_missed == 1);
    CHECK(engine.metrics().deadlines_expired_on_submit == 0);
    const Batched expired(engine, {with(request, RequestedPriority::kUnspec, 1)});
    CHECK(expired.failure.error.reason == (reject ? Reason::kDeadlineExpired : Reason::kNone));
    REQUIRE(expired.wait());
    CHECK(engine.metrics().deadlines_missed == 1);
    CHECK(engine.metrics().deadlines_expired_on_submit == (reject ? 0 : 1));
  }
}

TEST_CASE("engines of one tenant in a process share its limits; those of others do not") {
  Scripted one(contractOf("shared", R"("max_inflight_requests": 1)"));
  Scripted two(contractOf("shared", R"("max_inflight_requests": 1)"));
  Scripted other(contractOf("other", R"("max_inflight_requests": 1)"));
  one.rdma->next(FakeScript::hold());
  const Batched held(*one.engines.initiator, {one.engines.request(Opcode::kWrite, 0, 64)});
  REQUIRE(one.rdma->waitHeld(1, kWatchdogNs));
  const Batched waits(*two.engines.initiator, {two.engines.request(Opcode::kWrite, 0, 64)});
  const Batched runs(*other.engines.initiator, {other.engines.request(Opcode::kWrite, 0, 64)});
  REQUIRE(runs.wait());
  CHECK(two.rdma->seen().empty());
  SUBCASE("one goes on when the other's has ended") {
    one.rdma->release();
  }
  SUBCASE("or when the other's engine was destroyed") {
    one.engines.initiator.reset();
  }
  REQUIRE(waits.wait());
  CHECK(waits.report().status.state == TaskState::kCompleted);
}

TEST_CASE("what waits for a peer that cannot be reached fails with the first of it, and keeps nobody else waiting") {
  Scripted scripted(R"({"tenant": "unreachable", "qos": {"defaults": {"max_inflight_requests": 1}},
      "policy": [{"name": "dead", "segment_type": "memory", "transports": ["rdma"]},
                 {"name": "well", "segment_type": "memory", "transports": ["tcp"]}]})");
  scripted.rdma->refuseConnections(true);
  const auto named = [&](const char* policy) {
    Request request = scripted.engines.request(Opcode::kWrite, 0, 64);
    request.fields.policy_name = policy;
    return request;
  };
  std::vector<Request> requests(1000, named("dead"));
  requests.push_back(named("well"));
  Engine& engine = *scripted.engines.initiator;
  const Batched batch(engine, requests);
  REQUIRE_FALSE(batch.failure.error);
  REQUIRE(batch.wait());
  for (size_t i = 0; i < 1000; ++i) {
    CHECK(batch.report(i).status.state == TaskState::kFailed);
    CHECK(batch.report(i).error.reason == Reason::kPeerUnreachable);
  }
  // One was tried for all of them.
  CHECK(batch.report(0).attempt_count == 1);
  CHECK(batch.report(999).attempt_count == 0);
  CHECK(batch.report(1000).carriedBy() == Transport::kTcp);
  CHECK(engine.metrics().requests_waiting == 0);
  scripted.rdma->refuseConnections(false);
  const Batched again(engine, {named("dead")});
  REQUIRE(again.wait());
  CHECK(again.report().carriedBy() == Transport::kRdma);
}

TEST_CASE("an engine that is destroyed ends what waits for its turn") {
  Scripted scripted(contractOf("destroyed", R"("max_inflight_requests": 1)"));
  scripted.rdma->usually(FakeScript::hold());
  const std::vector<Request> requests(1000, scripted.engines.request(Opcode::kWrite, 0, 64));
  const Batched batch(*scripted.engines.initiator, requests);
  REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));
  scripted.engines.initiator->endTransfers();
  REQUIRE(batch.wait());
  CHECK(batch.report(999).status.state == TaskState::kCanceled);
  CHECK(batch.report(999).error.reason == Reason::kCanceled);
  scripted.engines.initiator.reset();
  CHECK(TenantAdmission::of(PolicyName("destroyed"))->waiting() == 0);
}

TEST_CASE("a notification follows the last of the tasks that had to wait, once, also when one failed over") {
  Scripted scripted(contractOf("notified", R"("max_inflight_requests": 1)"));
  scripted.rdma->next(FakeScript::failUntouched(Reason::kIoError));
  scripted.tcp->next(FakeScript::hold());
  Engine& engine = *scripted.engines.initiator;
  const std::vector<Request> requests(3, scripted.engines.request(Opcode::kWrite, 0, 64));
  const BatchId batch = engine.allocateBatch(3).value();
  const Notification notification{"done", "all three"};
  REQUIRE(engine.submit(batch, requests, ValidationMode::kStrict, &notification));
  REQUIRE(scripted.tcp->waitHeld(1, kWatchdogNs));
  CHECK(scripted.engines.target->receiveNotifications().empty());
  scripted.tcp->release();
  REQUIRE(engine.wait(batch, kWatchdogNs).value());
  CHECK(engine.batchStatus(batch).value().state == TaskState::kCompleted);
  const auto received = scripted.engines.target->receiveNotifications();
  REQUIRE(received.size() == 1);
  CHECK(received[0].message == "all three");
}

TEST_CASE("requests of v1 without intent go as legacy ones do: the same results, in the same order") {
  std::vector<std::vector<uint64_t>> orders;
  for (const Surface surface : {Surface::kLegacy, Surface::kV1}) {
    Scripted scripted(R"({"policy": [{"segment_type": "memory", "transports": ["rdma", "tcp"]}]})", 1);
    scripted.rdma->next(FakeScript::hold());
    scripted.rdma->next(FakeScript::failUntouched(Reason::kIoError), 3);
    fill(scripted.engines.local.data(), scripted.engines.local.size(), 7);
    std::vector<Request> requests;
    for (uint64_t i = 1; i <= 20; ++i) {
      requests.push_back(scripted.engines.request(i % 3 == 0 ? Opcode::kRead : Opcode::kWrite, i * 1024, i));
      requests.back().fields.surface = surface;
    }
    const Batched batch(*scripted.engines.initiator, requests);
    REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));
    scripted.rdma->release();
    REQUIRE(batch.wait());
    std::vector<uint64_t> order = lengthsOf(*scripted.rdma);
    for (size_t i = 0; i < requests.size(); ++i) {
      const TaskReport report = batch.report(i);
      order.push_back(report.dispatch_order);
      order.push_back(report.attempt_count);
      order.push_back(static_cast<uint64_t>(report.carriedBy()));
      order.push_back(report.status.transferred_bytes);
    }
    orders.push_back(order);
  }
  CHECK(orders[0] == orders[1]);
}

TEST_CASE("a hint stays inside the allowlist, whatever fails") {
  const std::vector<FakeScript::Fate> fates{
      FakeScript::failUntouched(Reason::kIoError),      FakeScript::failSettled(Reason::kPeerLost, 10),
      FakeScript::failUnsettled(Reason::kPeerLost, 10), FakeScript::closeLink(Reason::kPeerLost),
      FakeScript::failUntouched(Reason::kTimeout),      FakeScript::failUntouched(Reason::kAuthFailed)};
  for (const FakeScript::Fate& first : fates) {
    for (const FakeScript::Fate& second : fates) {
      Scripted scripted(R"({"qos": {"defaults": {"allowed_transports": ["rdma", "tcp"]}},
          "policy": [{"segment_type": "memory", "transports": ["shm", "tcp", "rdma"]}]})");
      scripted.rdma->usually(first);
      scripted.tcp->usually(second);
      // More than it takes to pause both.
      for (int i = 0; i < 5; ++i) {
        const Request request = scripted.engines.request(Opcode::kWrite, 0, 64, Transport::kRdma);
        const Batched batch(*scripted.engines.initiator, {request});
        CHECK((!batch.failure.error || batch.failure.error.reason == Reason::kHintUnavailable));
        REQUIRE(batch.wait());
      }
      CHECK(scripted.shm->seen().empty());
    }
  }
}

TEST_CASE("what is unsupported or unauthorized fails before anything reaches a transport") {
  Scripted scripted(R"({"qos": {"defaults": {"allowed_transports": ["rdma"], "priority": "medium",
      "on_unauthorized": "reject", "allowed_policies": ["mine"]}},
      "policy": [{"name": "mine", "segment_type": "memory", "transports": ["rdma", "tcp"]},
                 {"name": "theirs", "segment_type": "memory", "transports": ["tcp"]}]})");
  const auto good = scripted.engines.request(Opcode::kWrite, 0, 64);
  const auto changed = [&](auto change) {
    Request request = good;
    change(request.fields);
    return request;
  };
  const std::vector<std::pair<Request, Reason>> cases{
      {changed([](RequestFields& f) { f.transport_hint = static_cast<int32_t>(Transport::kNvlink); }),
       Reason::kTransportNotBuilt},
      {changed([](RequestFields& f) { f.transport_hint = static_cast<int32_t>(Transport::kTcp); }),
       Reason::kHintNotInContract},
      {changed([](RequestFields& f) { f.transport_hint = 99; }), Reason::kUnknownTransport},
      {changed([](RequestFields& f) { f.priority = static_cast<int32_t>(RequestedPriority::kHigh); }),
       Reason::kPriorityAboveContract},
      {changed([](RequestFields& f) { f.policy_name = "theirs"; }), Reason::kPolicyUnauthorized},
      {changed([](RequestFields& f) { f.policy_name = "nobody's"; }), Reason::kPolicyBadCharacter},
      {changed([](RequestFields& f) { f.intent_type = 6; }), Reason::kStagingInternalReserved},
      {changed([](RequestFields& f) { f.intent_type = 7; }), Reason::kUnknownIntentType},
      {changed([](RequestFields& f) { f.flags = 1; }), Reason::kUnknownFlags},
      {changed([](RequestFields& f) { f.reserved0 = 1; }), Reason::kReservedNonzero},
  };
  for (const auto& [bad, reason] : cases) {
    for (const size_t at : {size_t{0}, size_t{1}, size_t{2}}) {
      std::vector<Request> requests(3, good);
      requests[at] = bad;
      const Error error = scripted.engines.refused(requests);
      CHECK(error.reason == reason);
      CHECK(error.index == static_cast<int64_t>(at));
    }
  }
  CHECK(scripted.rdma->seen().empty());
  CHECK(scripted.tcp->seen().empty());
  scripted.engines.run({good});
  CHECK(scripted.rdma->seen().size() == 1);
}

TEST_CASE("a reload decides for what is submitted after it, and leaves the rest as it was") {
  Scripted scripted(contractOf("reloaded", R"("max_inflight_requests": 1)"));
  scripted.rdma->next(FakeScript::hold());
  Engine& engine = *scripted.engines.initiator;
  const auto request = scripted.engines.request(Opcode::kWrite, 0, 64);
  const Batched before(engine, {request, request});
  REQUIRE(scripted.rdma->waitHeld(1, kWatchdogNs));

  const std::string after = R"({"tenant": "reloaded", "policy": [{"segment_type": "memory", "transports": ["tcp"]}]})";
  CHECK(engine.reloadPolicy(configOf(after)).empty());
  CHECK(scripted.engines.report(scripted.engines.run({request})).carriedBy() == Transport::kTcp);
  CHECK(engine.explain(request, ValidationMode::kStrict, monotonicNowNs()).decision.plan->primary == Transport::kTcp);
  CHECK_FALSE(engine.wait(before.id, 0).value());

  scripted.rdma->release();
  REQUIRE(before.wait());
  CHECK(before.report(0).carriedBy() == Transport::kRdma);
  CHECK(before.report(1).carriedBy() == Transport::kRdma);
}

TEST_CASE("an explanation lives on over a reload") {
  Scripted scripted(contractOf("explained", R"("priority": "medium")"));
  Engine& engine = *scripted.engines.initiator;
  const Explanation explanation =
      engine.explain(scripted.engines.request(Opcode::kWrite, 0, 64), ValidationMode::kStrict, monotonicNowNs());
  for (int i = 0; i < 3; ++i) engine.reloadPolicy(configOf(R"({"tenant": "explained"})"));
  CHECK(explanation.decision.effective->contract->matched_policy == "global_default");
  CHECK(explanation.decision.plan->transport_policy == "policy[0]");
}

TEST_CASE("what a reload cannot change is named, and the policy is changed all the same") {
  Scripted scripted;
  const auto left = scripted.engines.initiator->reloadPolicy(configOf(
      R"({"tenant": "another", "rpc_server_port": 4711, "transports": {"tcp": {"port": 1}, "shm": {"enable": false}},
          "staging": {"chunk_size": "1MiB"}, "policy": [{"segment_type": "memory", "transports": ["tcp"]}]})"));
  CHECK(left == std::vector<std::string>{"tenant", "rpc_server_port", "transports.tcp", "transports.*.enable",
                                         "staging.chunk_size"});
  CHECK(scripted.run().carriedBy() == Transport::kTcp);
}

}  // namespace tent
