// Transfers through staging buffers: the bytes, the boundaries between chunks, who gets buffers when, and that what the
// plan says is what happens.
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/engine.h"
#include "transport/fake/fake_backend.h"
#include "unit/engine/two_engines.h"

namespace tent {
namespace {

std::string stagingConfig(uint64_t chunk_bytes, uint32_t buffers) {
  return fmt::format(R"({{"staging": {{"force": true, "chunk_size": {}, "buffers": {}}}}})", chunk_bytes, buffers);
}

std::vector<std::byte> copyOf(const std::byte* data, uint64_t bytes) {
  return {data, data + bytes};
}

constexpr uint64_t kGuardBytes = 64;

// One transfer at odd addresses, of which every byte of both memories is looked at afterwards.
void checkBytes(TwoEngines& engines, Opcode opcode, uint64_t length, Transport transport) {
  CAPTURE(nameOf(opcode));
  CAPTURE(length);
  CAPTURE(nameOf(transport));
  const uint64_t size = engines.local.size();
  REQUIRE(2 * kGuardBytes + length <= size);
  fill(engines.local.data(), size, length);
  fill(engines.remote, size, ~length);
  std::vector<std::byte> local = engines.local;
  std::vector<std::byte> remote = copyOf(engines.remote, size);
  constexpr uint64_t kLocalOffset = 13;
  constexpr uint64_t kRemoteOffset = 27;
  if (opcode == Opcode::kWrite) {
    std::memcpy(remote.data() + kRemoteOffset, local.data() + kLocalOffset, length);
  } else {
    std::memcpy(local.data() + kLocalOffset, remote.data() + kRemoteOffset, length);
  }
  Request request = engines.request(opcode, kRemoteOffset, length, transport);
  request.source = engines.local.data() + kLocalOffset;
  const TaskReport report = engines.report(engines.run({request}));
  INFO(messageOf(report.error));
  CHECK(report.status.state == TaskState::kCompleted);
  CHECK(report.status.transferred_bytes == length);
  CHECK(report.carriedBy() == transport);
  REQUIRE(report.attempt_count == 1);
  CHECK(report.attempts[0].staged);
  CHECK(engines.local == local);
  CHECK(std::memcmp(engines.remote, remote.data(), size) == 0);
}

}  // namespace

TEST_CASE("every byte arrives where a direct transfer takes it, around every boundary of chunks, and no other byte") {
  for (const uint64_t chunk : {uint64_t{4096}, uint64_t{65536}}) {
    CAPTURE(chunk);
    for (const Registration registration : {Registration::kAllocated, Registration::kApplication}) {
      TwoEngines engines(18 * chunk + 4 * kGuardBytes, registration, stagingConfig(chunk, 8));
      for (const Transport transport : {Transport::kTcp, Transport::kShm}) {
        for (const Opcode opcode : {Opcode::kWrite, Opcode::kRead}) {
          for (const uint64_t length :
               {uint64_t{1}, chunk - 1, chunk, chunk + 1, 2 * chunk - 1, 2 * chunk, 2 * chunk + 1, 17 * chunk + 3}) {
            checkBytes(engines, opcode, length, transport);
          }
        }
      }
    }
  }
}

TEST_CASE("chunks of one byte, and those longer than the transfer, are chunks too") {
  TwoEngines tiny(4096, Registration::kAllocated, stagingConfig(1, 3));
  checkBytes(tiny, Opcode::kWrite, 33, Transport::kTcp);
  checkBytes(tiny, Opcode::kRead, 33, Transport::kShm);
  TwoEngines long_ones(4u << 20, Registration::kAllocated, stagingConfig(3u << 20, 1));
  checkBytes(long_ones, Opcode::kWrite, (3u << 20) + 5, Transport::kTcp);
  checkBytes(long_ones, Opcode::kRead, (3u << 20) + 5, Transport::kShm);
}

TEST_CASE("memory that the initiator registered is staged like other memory") {
  TwoEngines engines(65536, Registration::kAllocated, stagingConfig(4096, 4));
  REQUIRE_FALSE(engines.initiator->registerMemory(engines.local.data(), engines.local.size()));
  checkBytes(engines, Opcode::kWrite, 50'001, Transport::kTcp);
  checkBytes(engines, Opcode::kRead, 50'001, Transport::kShm);
}

TEST_CASE("an engine stages to and from its own memory") {
  const auto engine = makeEngine(stagingConfig(4096, 2));
  auto* const there = static_cast<std::byte*>(engine->allocateMemory(65536).value());
  std::vector<std::byte> here(65536);
  fill(here.data(), here.size(), 1);
  Request request;
  request.fields.opcode = static_cast<int32_t>(Opcode::kWrite);
  request.fields.length = here.size();
  request.fields.target_offset = reinterpret_cast<uintptr_t>(there);
  request.source = here.data();
  const BatchId batch = engine->allocateBatch(1).value();
  REQUIRE(engine->submit(batch, {&request, 1}, ValidationMode::kStrict));
  REQUIRE(engine->wait(batch, kWatchdogNs).value());
  CHECK(engine->taskStatus(batch, 0).value().state == TaskState::kCompleted);
  CHECK(std::memcmp(there, here.data(), here.size()) == 0);
}

TEST_CASE("local memory that is not mapped fails the task, and what is allowed next to it goes on") {
  TwoEngines engines(65536, Registration::kAllocated, stagingConfig(4096, 4));
  std::vector<Request> requests(2, engines.request(Opcode::kWrite, 0, 30'000, Transport::kTcp));
  requests[0].source = reinterpret_cast<void*>(uintptr_t{4096});
  const BatchId batch = engines.run(requests);
  CHECK(engines.report(batch, 0).error.reason == Reason::kIoError);
  CHECK(engines.report(batch, 0).attempts[0].aftermath == Aftermath::kUntouched);
  CHECK(engines.report(batch, 1).status.state == TaskState::kCompleted);
}

TEST_CASE("the plan's chunks are the transfers that its transport carries, and count as one dispatch") {
  const auto script = std::make_shared<FakeScript>();
  const auto options = [](std::shared_ptr<FakeScript> fate) {
    EngineOptions result;
    result.make_backends = [fate](Loop& /*loop*/) {
      FakeOptions fake;
      fake.name = "tcp";
      fake.script = fate;
      std::vector<std::unique_ptr<Backend>> backends;
      backends.push_back(makeFakeBackend(fake).value());
      return backends;
    };
    return result;
  };
  TwoEngines engines(65536, Registration::kAllocated, stagingConfig(4096, 4), options(script), options(nullptr));
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kRead}) {
    const size_t before = script->seen().size();
    const Request request = engines.request(opcode, 0, 10'000);
    const Explanation explanation = engines.initiator->explain(request, ValidationMode::kStrict, 1);
    REQUIRE(explanation.decision.plan);
    const ExecutionPlan& plan = *explanation.decision.plan;
    CHECK(plan.path_kind == PathKind::kStaged);
    checkBytes(engines, opcode, 10'000, Transport::kTcp);
    const std::vector<FakeScript::Seen> seen = script->seen();
    REQUIRE(plan.stages.size() == 3);
    CHECK(plan.stages[1].slices == seen.size() - before);
    uint64_t bytes = 0;
    for (size_t i = before; i < seen.size(); ++i) {
      CHECK(seen[i].length <= plan.stages[1].slice_bytes);
      bytes += seen[i].length;
    }
    CHECK(bytes == plan.stages[1].bytes);
  }
  CHECK(engines.report(engines.run({engines.request(Opcode::kRead, 0, 1)})).dispatch_order == 3);
  const EngineMetrics metrics = engines.initiator->metrics();
  REQUIRE(metrics.transports.size() == 1);
  CHECK(metrics.transports[0].attempts_succeeded == 3);
  CHECK(metrics.transports[0].traffic.written_bytes == 10'000);
  CHECK(metrics.transports[0].traffic.read_bytes == 10'001);
}

TEST_CASE("many staged tasks of one engine all end") {
  TwoEngines engines(1u << 20, Registration::kAllocated, stagingConfig(4096, 3));
  fill(engines.local.data(), engines.local.size(), 1);
  std::vector<Request> requests;
  for (uint64_t i = 0; i < 64; ++i) {
    requests.push_back(
        engines.request(Opcode::kWrite, i * 16384, 16384, i % 2 == 0 ? Transport::kTcp : Transport::kShm));
  }
  const BatchId batch = engines.run(requests);
  CHECK(engines.initiator->batchStatus(batch).value().state == TaskState::kCompleted);
  CHECK(std::memcmp(engines.remote, engines.local.data(), engines.local.size()) == 0);
}

TEST_CASE("buffers are there as long as they are used, and are freed at both ends some time later") {
  const auto buffers = [] {
    std::ifstream maps("/proc/self/maps");
    const std::string text{std::istreambuf_iterator<char>(maps), {}};
    size_t count = 0;
    for (size_t at = text.find("memfd:tent"); at != std::string::npos; at = text.find("memfd:tent", at + 1)) ++count;
    return count;
  };
  TwoEngines engines(65536, Registration::kApplication, stagingConfig(4096, 4));
  CHECK(buffers() == 0);
  checkBytes(engines, Opcode::kWrite, 30'000, Transport::kTcp);
  CHECK(buffers() >= 2);
  while (buffers() > 0) std::this_thread::yield();
  checkBytes(engines, Opcode::kWrite, 30'000, Transport::kTcp);
}

TEST_CASE("initiators that together want more buffers than there are all come to their turns") {
  for (const uint32_t buffers : {1u, 2u}) {
    CAPTURE(buffers);
    const std::string config = stagingConfig(16384, buffers);
    EngineOptions options;
    options.staging.turn_ns = 0;
    constexpr uint64_t kEach = 1u << 20;
    TwoEngines engines(4 * kEach, Registration::kAllocated, stagingConfig(16384, 8), {}, options, config);
    fill(engines.local.data(), engines.local.size(), buffers);
    std::vector<std::unique_ptr<Engine>> initiators;
    std::vector<BatchId> batches;
    for (uint64_t i = 0; i < 4; ++i) {
      Engine& engine = *initiators.emplace_back(makeEngine(stagingConfig(16384, 8)));
      Request request =
          engines.request(Opcode::kWrite, i * kEach, kEach, i % 2 == 0 ? Transport::kTcp : Transport::kShm);
      request.target = engine.openSegment(engines.target->address()).value();
      batches.push_back(engine.allocateBatch(1).value());
      REQUIRE(engine.submit(batches.back(), {&request, 1}, ValidationMode::kStrict));
    }
    for (size_t i = 0; i < initiators.size(); ++i) {
      REQUIRE(initiators[i]->wait(batches[i], kWatchdogNs).value());
      const TaskReport report = initiators[i]->taskReport(batches[i], 0).value();
      INFO(messageOf(report.error));
      CHECK(report.status.state == TaskState::kCompleted);
    }
    CHECK(std::memcmp(engines.remote, engines.local.data(), engines.local.size()) == 0);
  }
}

TEST_CASE("a chunk that the target has no room for is refused with what to do about it") {
  TwoEngines engines(1u << 20, Registration::kAllocated, stagingConfig(65536, 2), {}, {}, stagingConfig(1024, 8));
  const TaskReport report = engines.report(engines.run({engines.request(Opcode::kWrite, 0, 100)}));
  CHECK(report.error.reason == Reason::kResourceExhausted);
  CHECK(report.error.detail.find("set staging.chunk_size") != std::string::npos);
  CHECK(report.attempts[0].aftermath == Aftermath::kUntouched);
}

TEST_CASE("a notification comes after the last byte of a staged submit") {
  TwoEngines engines(1u << 20, Registration::kAllocated, stagingConfig(4096, 4));
  fill(engines.local.data(), engines.local.size(), 5);
  const BatchId batch = engines.initiator->allocateBatch(1).value();
  const Request request = engines.request(Opcode::kWrite, 0, engines.local.size());
  const Notification notification{"done", "it is", kLocalSegment};
  REQUIRE(engines.initiator->submit(batch, {&request, 1}, ValidationMode::kStrict, &notification));
  std::vector<Notification> arrived;
  while (arrived.empty()) {
    std::this_thread::yield();
    arrived = engines.target->receiveNotifications();
  }
  CHECK(std::memcmp(engines.remote, engines.local.data(), engines.local.size()) == 0);
  REQUIRE(engines.initiator->wait(batch, kWatchdogNs).value());
}

}  // namespace tent
