// What becomes of staged transfers when something fails, is canceled or goes away: with a transport that fails as the
// test says.
#include <algorithm>
#include <csignal>
#include <cstring>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"
#include "unit/engine/scripted.h"
#include "unit/engine/target_process.h"

namespace tent {
namespace {

constexpr uint64_t kChunk = 4096;
constexpr const char* kStaged =
    R"({"policy": [{"segment_type": "memory", "transports": ["rdma", "tcp"]}],
        "staging": {"force": true, "chunk_size": 4096, "buffers": 8}})";

// Both ends have the transports "rdma" and "tcp", played by fakes; the initiator's follow scripts.
struct StagedScripts {
  explicit StagedScripts(EngineOptions target_options = {}, const std::string& target_config = "{}")
      : engines(1u << 16, Registration::kApplication, kStaged, withFakes({rdma, tcp}),
                withFakes({nullptr, nullptr}, std::move(target_options)), target_config) {
    fill(engines.local.data(), engines.local.size(), 3);
  }

  // Submits one transfer of ten chunks, and does not wait.
  BatchId submit(Opcode opcode = Opcode::kWrite) {
    const BatchId batch = engines.initiator->allocateBatch(1).value();
    const Request request = engines.request(opcode, 0, 10 * kChunk);
    REQUIRE(engines.initiator->submit(batch, {&request, 1}, ValidationMode::kStrict));
    return batch;
  }
  TaskReport wait(BatchId batch) {
    REQUIRE(engines.initiator->wait(batch, kWatchdogNs).value());
    return engines.report(batch);
  }
  bool same(uint64_t bytes) const { return std::memcmp(engines.remote, engines.local.data(), bytes) == 0; }
  bool untouched() const {
    return std::all_of(engines.remote, engines.remote + engines.local.size(),
                       [](std::byte byte) { return byte == std::byte{0}; });
  }

  std::shared_ptr<FakeScript> rdma = std::make_shared<FakeScript>();
  std::shared_ptr<FakeScript> tcp = std::make_shared<FakeScript>();
  TwoEngines engines;
};

}  // namespace

TEST_CASE("a chunk that fails on its way takes the whole transfer to the next transport, with the same bytes") {
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kRead}) {
    for (const FakeScript::Fate& fate :
         {FakeScript::failUntouched(Reason::kIoError), FakeScript::failSettled(Reason::kPeerLost, 100),
          FakeScript::failUnsettled(Reason::kPeerLost, 100), FakeScript::closeLink(Reason::kPeerLost)}) {
      StagedScripts scripts;
      scripts.rdma->next(FakeScript::complete(), 5);
      scripts.rdma->next(fate);
      const TaskReport report = scripts.wait(scripts.submit(opcode));
      INFO(messageOf(report.error));
      CHECK(report.status.state == TaskState::kCompleted);
      CHECK(report.carriedBy() == Transport::kTcp);
      REQUIRE(report.attempt_count == 2);
      CHECK(report.attempts[0].reason == fate.reason);
      CHECK(report.attempts[0].aftermath == Aftermath::kSettled);
      CHECK(report.attempts[1].staged);
      CHECK(scripts.tcp->seen().size() == 10);
      CHECK(scripts.same(10 * kChunk));
    }
  }
}

TEST_CASE("when the first chunk fails on its way, nothing was touched") {
  StagedScripts scripts;
  scripts.rdma->usually(FakeScript::failUnsettled(Reason::kIoError, 100));
  scripts.tcp->usually(FakeScript::failUntouched(Reason::kIoError));
  const TaskReport report = scripts.wait(scripts.submit());
  CHECK(report.status.state == TaskState::kFailed);
  CHECK(report.error.reason == Reason::kIoError);
  REQUIRE(report.attempt_count == 2);
  CHECK(report.attempts[0].aftermath == Aftermath::kUntouched);
  CHECK(report.attempts[1].aftermath == Aftermath::kUntouched);
  CHECK(scripts.untouched());
  // And the next one is not the worse for it.
  scripts.rdma->usually(FakeScript::complete());
  CHECK(scripts.wait(scripts.submit()).status.state == TaskState::kCompleted);
  CHECK(scripts.same(10 * kChunk));
}

TEST_CASE("a transport that cannot be connected is an attempt of a staged transfer like others") {
  StagedScripts scripts;
  scripts.rdma->refuseConnections(true);
  const TaskReport report = scripts.wait(scripts.submit(Opcode::kRead));
  CHECK(report.carriedBy() == Transport::kTcp);
  REQUIRE(report.attempt_count == 2);
  CHECK(report.attempts[0].reason == Reason::kPeerUnreachable);
  CHECK(report.attempts[0].aftermath == Aftermath::kUntouched);
}

TEST_CASE("a cancel in the middle keeps the chunks that have not begun from beginning") {
  StagedScripts scripts;
  scripts.rdma->next(FakeScript::complete(), 2);
  scripts.rdma->usually(FakeScript::hold());
  const BatchId batch = scripts.submit();
  REQUIRE(scripts.rdma->waitHeld(1, kWatchdogNs));
  CHECK_FALSE(scripts.engines.initiator->cancel(batch, 0));
  scripts.rdma->release();
  const TaskReport report = scripts.wait(batch);
  CHECK(report.status.state == TaskState::kCanceled);
  CHECK(report.status.transferred_bytes == 0);
  CHECK(scripts.rdma->seen().size() < 10);
  CHECK(scripts.tcp->seen().empty());
  scripts.rdma->usually(FakeScript::complete());
  CHECK(scripts.wait(scripts.submit()).status.state == TaskState::kCompleted);
}

TEST_CASE("a cancel while the lane is held up takes back the chunks that wait there") {
  StagedScripts scripts;
  scripts.rdma->usually(FakeScript::hold());
  const BatchId batch = scripts.submit();
  REQUIRE(scripts.rdma->waitSeen(1, kWatchdogNs));
  CHECK_FALSE(scripts.engines.initiator->cancel(batch, 0));
  const TaskReport report = scripts.wait(batch);  // although nothing is released
  CHECK(report.status.state == TaskState::kCanceled);
  CHECK(report.attempts[0].aftermath == Aftermath::kUntouched);
  CHECK(scripts.untouched());
}

TEST_CASE("what is urgent gets the next chunk, and equals get theirs by turns") {
  StagedScripts scripts;
  scripts.rdma->usually(FakeScript::hold());
  const BatchId first = scripts.submit();
  REQUIRE(scripts.rdma->waitSeen(4, kWatchdogNs));  // half of the buffers are the peer's
  Engine& engine = *scripts.engines.initiator;
  std::vector<Request> requests;
  for (const auto& [priority, length] : std::vector<std::pair<RequestedPriority, uint64_t>>{
           {RequestedPriority::kLow, 100}, {RequestedPriority::kHigh, 200}, {RequestedPriority::kMedium, 300}}) {
    Request request = scripts.engines.request(Opcode::kWrite, 0, length);
    request.fields.priority = static_cast<int32_t>(priority);
    requests.push_back(request);
  }
  const BatchId second = engine.allocateBatch(requests.size()).value();
  REQUIRE(engine.submit(second, requests, ValidationMode::kStrict));
  scripts.rdma->release();
  REQUIRE(engine.wait(second, kWatchdogNs).value());
  CHECK(scripts.wait(first).status.state == TaskState::kCompleted);
  std::vector<uint64_t> lengths;
  for (const FakeScript::Seen& seen : scripts.rdma->seen()) {
    if (seen.length != kChunk) lengths.push_back(seen.length);
  }
  CHECK(lengths == std::vector<uint64_t>{200, 300, 100});
  CHECK(scripts.rdma->seen().size() == 13);
}

TEST_CASE("buffers that are not given back are taken, and what is still written to them reaches nothing") {
  for (const bool asked_for : {false, true}) {
    EngineOptions options;
    options.staging.turn_ns = 0;
    (asked_for ? options.staging.patience_ns : options.staging.silence_ns) = 50'000'000;
    StagedScripts scripts(options, R"({"staging": {"chunk_size": 4096, "buffers": 1}})");
    scripts.rdma->next(FakeScript::hold());
    const BatchId batch = scripts.submit();
    REQUIRE(scripts.rdma->waitHeld(1, kWatchdogNs));
    // There is one buffer: another engine that was given it shows that the first one has lost it.
    const auto other = makeEngine(kStaged, withFakes({nullptr, nullptr}));
    std::vector<std::byte> others(kChunk);
    fill(others.data(), kChunk, 9);
    Request request = scripts.engines.request(Opcode::kWrite, 15 * kChunk, kChunk);
    request.source = others.data();
    request.target = other->openSegment(scripts.engines.target->address()).value();
    const BatchId other_batch = other->allocateBatch(1).value();
    REQUIRE(other->submit(other_batch, {&request, 1}, ValidationMode::kStrict));
    REQUIRE(other->wait(other_batch, kWatchdogNs).value());
    CHECK(other->taskStatus(other_batch, 0).value().state == TaskState::kCompleted);

    scripts.rdma->release();
    const TaskReport report = scripts.wait(batch);
    INFO(messageOf(report.error));
    CHECK(report.carriedBy() == Transport::kTcp);
    REQUIRE(report.attempt_count == 2);
    CHECK(report.attempts[0].reason == Reason::kPeerLost);
    CHECK(report.attempts[0].aftermath == Aftermath::kUntouched);
    CHECK(scripts.same(10 * kChunk));
    CHECK(std::memcmp(scripts.engines.remote + 15 * kChunk, others.data(), kChunk) == 0);
  }
}

TEST_CASE("an engine that is destroyed in the middle ends its staged transfers, and their target its copies") {
  for (const bool target_first : {false, true}) {
    StagedScripts scripts;
    scripts.rdma->next(FakeScript::complete(), 3);
    scripts.rdma->usually(FakeScript::hold());
    const BatchId batch = scripts.submit();
    REQUIRE(scripts.rdma->waitHeld(1, kWatchdogNs));
    if (target_first) {
      scripts.engines.target.reset();
      scripts.rdma->release();
      const TaskReport report = scripts.wait(batch);
      CHECK(report.status.state == TaskState::kFailed);
    }
    scripts.engines.initiator.reset();
  }
}

TEST_CASE("a target that is killed in the middle fails what goes there, and nothing hangs") {
  const TemporaryFolder folder;
  setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
  TargetProcess target(R"({"staging": {"chunk_size": 4096}})", folder.path());
  const auto engine = makeEngine(R"({"staging": {"force": true, "chunk_size": 4096, "buffers": 4}})");
  const SegmentId segment = engine->openSegment(target.address()).value();
  std::vector<std::byte> local(TargetProcess::kBytes);
  const BatchId batch = engine->allocateBatch(64).value();
  std::vector<Request> requests;
  for (size_t i = 0; i < 64; ++i) {
    requests.push_back(target.request(i % 2 == 0 ? Opcode::kRead : Opcode::kWrite, segment, local,
                                      i % 4 < 2 ? Transport::kTcp : Transport::kShm));
  }
  REQUIRE(engine->submit(batch, requests, ValidationMode::kStrict));
  REQUIRE(kill(target.pid(), SIGKILL) == 0);
  REQUIRE(engine->wait(batch, kWatchdogNs).value());
  CHECK(engine->batchStatus(batch).value().state == TaskState::kFailed);
  for (size_t i = 0; i < requests.size(); ++i) {
    const TaskReport report = engine->taskReport(batch, i).value();
    CHECK(isTerminal(report.status.state));
    if (report.status.state == TaskState::kFailed) CHECK(report.error);
  }
}

}  // namespace tent
