#include "engine/engine.h"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fd.h"
#include "engine/backends.h"
#include "support/open_sockets.h"
#include "unit/engine/two_engines.h"

namespace tent {
namespace {

bool same(const std::byte* a, const std::byte* b, uint64_t bytes) {
  return std::memcmp(a, b, bytes) == 0;
}

}  // namespace

TEST_CASE("bytes arrive, both ways, over each transport and for each kind of memory") {
  for (const Registration registration : {Registration::kAllocated, Registration::kApplication}) {
    for (const Transport transport : {Transport::kShm, Transport::kTcp}) {
      CAPTURE(nameOf(registration));
      CAPTURE(nameOf(transport));
      TwoEngines engines(1u << 20, registration);
      fill(engines.local.data(), 1u << 20, 1);
      const BatchId written = engines.run({engines.request(Opcode::kWrite, 100, 500'000, transport)});
      CHECK(engines.report(written).status.state == TaskState::kCompleted);
      CHECK(engines.report(written).status.transferred_bytes == 500'000);
      CHECK(engines.report(written).carriedBy() == transport);
      CHECK(same(engines.local.data() + 100, engines.remote + 100, 500'000));
      CHECK(engines.remote[99] == std::byte{0});
      CHECK(engines.remote[500'100] == std::byte{0});

      fill(engines.remote, 1u << 20, 2);
      const BatchId read = engines.run({engines.request(Opcode::kRead, 7, 900'000, transport)});
      CHECK(engines.report(read).carriedBy() == transport);
      CHECK(same(engines.local.data() + 7, engines.remote + 7, 900'000));
    }
  }
}

TEST_CASE("without a policy or a hint, shm carries what stays on this machine") {
  TwoEngines engines;
  CHECK(engines.report(engines.run({engines.request(Opcode::kRead, 0, 10)})).carriedBy() == Transport::kShm);
}

TEST_CASE("the engine's own memory is a target too") {
  TwoEngines engines;
  auto* own = static_cast<std::byte*>(engines.initiator->allocateMemory(4096).value());
  for (const Transport transport : {Transport::kShm, Transport::kTcp}) {
    fill(engines.local.data(), 4096, static_cast<uint64_t>(transport));
    Request request = engines.request(Opcode::kWrite, 0, 4096, transport);
    request.target = kLocalSegment;
    request.fields.target_offset = reinterpret_cast<uintptr_t>(own);
    CHECK(engines.report(engines.run({request})).status.state == TaskState::kCompleted);
    CHECK(same(engines.local.data(), own, 4096));
  }
}

TEST_CASE("one bad request keeps all of its call from moving") {
  TwoEngines engines;
  fill(engines.local.data(), 4096, 1);
  Request bad = engines.request(Opcode::kWrite, 0, 10);
  bad.fields.intent_type = 99;
  const BatchId batch = engines.initiator->allocateBatch(3).value();
  const std::vector<Request> requests{engines.request(Opcode::kWrite, 0, 4096), bad, bad};
  const auto submitted = engines.initiator->submit(batch, requests, ValidationMode::kStrict);
  REQUIRE_FALSE(submitted);
  CHECK(submitted.error().error.reason == Reason::kUnknownIntentType);
  CHECK(submitted.error().error.index == 1);
  CHECK(submitted.error().failed == 2);
  CHECK(engines.initiator->taskStatus(batch, 0).error().reason == Reason::kBadBatch);
  CHECK(std::all_of(engines.remote, engines.remote + 4096, [](std::byte b) { return b == std::byte{0}; }));
  // The slots are still there.
  CHECK(engines.initiator->submit(batch, {requests.data(), 1}, ValidationMode::kStrict));
  CHECK(engines.initiator->submit(batch, requests, ValidationMode::kStrict).error().error.reason == Reason::kBatchFull);
  REQUIRE(engines.initiator->wait(batch, kWatchdogNs).value());
}

TEST_CASE("targets are checked before anything moves") {
  TwoEngines engines(4096);
  Request unknown = engines.request(Opcode::kRead, 0, 10);
  unknown.target = 4711;
  CHECK(engines.refused({unknown}).reason == Reason::kUnknownSegment);
  CHECK(engines.refused({engines.request(Opcode::kRead, 0, 4097)}).reason == Reason::kOutOfRange);
  CHECK(engines.refused({engines.request(Opcode::kRead, 4096, 1)}).reason == Reason::kOutOfRange);
  Request null_source = engines.request(Opcode::kRead, 0, 1);
  null_source.source = nullptr;
  CHECK(engines.refused({null_source}).reason == Reason::kNullSource);
  // What is wrong with the request itself is said first.
  unknown.fields.flags = 1;
  CHECK(engines.refused({unknown}).reason == Reason::kUnknownFlags);
  Request unbuilt = engines.request(Opcode::kRead, 0, 4097, Transport::kTpu);
  CHECK(engines.refused({unbuilt}).reason == Reason::kTransportNotBuilt);
}

TEST_CASE("permissions hold: read-only memory is not written, local memory not seen") {
  TwoEngines engines;
  std::vector<std::byte> memory(8192);
  REQUIRE_FALSE(engines.target->registerMemory(memory.data(), 4096, {{}, Permission::kGlobalReadOnly}));
  REQUIRE_FALSE(engines.target->registerMemory(memory.data() + 4096, 4096, {{}, Permission::kLocalReadWrite}));
  Request request = engines.request(Opcode::kWrite, 0, 16);
  request.fields.target_offset = reinterpret_cast<uintptr_t>(memory.data());
  CHECK(engines.refused({request}).reason == Reason::kPermissionDenied);
  request.fields.opcode = static_cast<int32_t>(Opcode::kRead);
  CHECK(engines.report(engines.run({request})).status.state == TaskState::kCompleted);
  request.fields.target_offset += 4096;
  CHECK(engines.refused({request}).reason == Reason::kOutOfRange);
  const SegmentInfo info = engines.initiator->segmentInfo(engines.segment).value();
  CHECK(info.buffers.size() == 2);
}

TEST_CASE("memory registered after the segment was opened is found; what was unregistered is refused") {
  TwoEngines engines;
  std::vector<std::byte> memory(4096);
  REQUIRE_FALSE(engines.target->registerMemory(memory.data(), 4096));
  fill(memory.data(), 4096, 3);
  Request request = engines.request(Opcode::kRead, 0, 4096, Transport::kTcp);
  request.fields.target_offset = reinterpret_cast<uintptr_t>(memory.data());
  CHECK(engines.report(engines.run({request})).status.state == TaskState::kCompleted);
  CHECK(same(engines.local.data(), memory.data(), 4096));
  REQUIRE_FALSE(engines.target->unregisterMemory(memory.data(), 4096));
  const TaskReport report = engines.report(engines.run({request}));
  CHECK(report.status.state == TaskState::kFailed);
  CHECK(report.error.reason == Reason::kOutOfRange);
  CHECK(report.attempt_count == 1);  // the target's refusal is final
  CHECK(engines.refused({request}).reason == Reason::kOutOfRange);
}

TEST_CASE("nobody there, no name, another kind of service: each is said") {
  const auto engine = makeEngine();
  std::string gone;
  { gone = makeEngine()->address(); }
  CHECK(engine->openSegment(gone).error().reason == Reason::kPeerUnreachable);
  for (const char* name : {"", "node-b", "127.0.0.1:0", "127.0.0.1:99999"}) {
    CHECK(engine->openSegment(name).error().reason == Reason::kUnknownSegment);
  }
  CHECK(engine->closeSegment(4711).reason == Reason::kUnknownSegment);
}

TEST_CASE("a port that accepts and never answers is given up in time") {
  const Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(listener.get(), 1) == 0);
  socklen_t length = sizeof address;
  REQUIRE(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  EngineOptions options;
  options.control_timeout_ns = 50'000'000;
  const auto engine = makeEngine("{}", std::move(options));
  const auto opened = engine->openSegment("127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().reason == Reason::kTimeout);
}

TEST_CASE("a target that ended fails what is asked of it, and another at its address is not taken for it") {
  TwoEngines engines;
  const std::string address = engines.target->address();
  engines.target.reset();
  const TaskReport lost = engines.report(engines.run({engines.request(Opcode::kRead, 0, 10, Transport::kTcp)}));
  CHECK(lost.status.state == TaskState::kFailed);
  CHECK(lost.error.reason == Reason::kPeerUnreachable);

  const std::string port = address.substr(address.rfind(':') + 1);
  engines.target = makeEngine("{\"rpc_server_port\": " + port + "}");
  auto* memory = static_cast<std::byte*>(engines.target->allocateMemory(4096).value());
  const TaskReport stale = engines.report(engines.run({engines.request(Opcode::kRead, 0, 10, Transport::kTcp)}));
  CHECK(stale.error.reason == Reason::kStaleSegment);

  REQUIRE_FALSE(engines.initiator->closeSegment(engines.segment));
  engines.segment = engines.initiator->openSegment(address).value();
  engines.remote = memory;
  CHECK(engines.report(engines.run({engines.request(Opcode::kRead, 0, 10)})).status.state == TaskState::kCompleted);
}

TEST_CASE("opening a segment again gives the same one, until it was closed as often") {
  TwoEngines engines;
  CHECK(engines.initiator->openSegment(engines.target->address()).value() == engines.segment);
  CHECK_FALSE(engines.initiator->closeSegment(engines.segment));
  CHECK(engines.report(engines.run({engines.request(Opcode::kRead, 0, 10)})).status.state == TaskState::kCompleted);
  CHECK_FALSE(engines.initiator->closeSegment(engines.segment));
  CHECK(engines.refused({engines.request(Opcode::kRead, 0, 10)}).reason == Reason::kUnknownSegment);
}

TEST_CASE("the descriptor of a batch tells when it has ended") {
  TwoEngines engines;
  const BatchId batch = engines.initiator->allocateBatch(64).value();
  pollfd entry{engines.initiator->batchFd(batch).value(), POLLIN, 0};
  CHECK(poll(&entry, 1, 0) == 1);
  const std::vector<Request> requests(64, engines.request(Opcode::kRead, 0, 100'000, Transport::kTcp));
  REQUIRE(engines.initiator->submit(batch, requests, ValidationMode::kStrict));
  CHECK(poll(&entry, 1, 60'000) == 1);
  CHECK(engines.initiator->batchStatus(batch).value().state == TaskState::kCompleted);
  CHECK(engines.initiator->batchStatus(batch).value().transferred_bytes == 6'400'000);
  CHECK_FALSE(engines.initiator->freeBatch(batch));
  CHECK(engines.initiator->freeBatch(batch).reason == Reason::kBadBatch);
}

TEST_CASE("handles that are none are refused everywhere") {
  TwoEngines engines;
  Engine& engine = *engines.initiator;
  CHECK(engine.wait(4711, 0).error().reason == Reason::kBadBatch);
  CHECK(engine.batchFd(4711).error().reason == Reason::kBadBatch);
  CHECK(engine.taskStatus(4711, 0).error().reason == Reason::kBadBatch);
  CHECK(engine.batchStatus(4711).error().reason == Reason::kBadBatch);
  CHECK(engine.cancel(4711, 0).reason == Reason::kBadBatch);
  CHECK(engine.freeBatch(4711).reason == Reason::kBadBatch);
  CHECK(engine.segmentInfo(4711).error().reason == Reason::kUnknownSegment);
  CHECK(engine.allocateBatch(0).error().reason == Reason::kResourceExhausted);
  CHECK(engine.allocateBatch(SIZE_MAX).error().reason == Reason::kResourceExhausted);
  CHECK(engine.submit(4711, {}, ValidationMode::kStrict).error().error.reason == Reason::kBadBatch);
  const BatchId batch = engine.allocateBatch(1).value();
  CHECK(engine.submit(batch, {}, ValidationMode::kStrict));
  CHECK(engine.taskStatus(batch, SIZE_MAX).error().reason == Reason::kBadBatch);
}

TEST_CASE("checksums are the peer's, of ranges that it lets be read") {
  TwoEngines engines(20u << 20);
  fill(engines.remote, 20u << 20, 1);
  const auto base = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(engines.remote));
  const std::vector<Engine::Range> ranges{{base, 20u << 20}, {base, 1}, {base + 1, 1}, {base, 1}};
  const auto sums = engines.initiator->checksums(engines.segment, ranges);
  REQUIRE(sums);
  REQUIRE(sums->size() == 4);
  CHECK((*sums)[1] == (*sums)[3]);
  CHECK((*sums)[1] != (*sums)[2]);
  const std::vector<Engine::Range> beyond{{base, (20u << 20) + 1}};
  CHECK(engines.initiator->checksums(engines.segment, beyond).error().reason == Reason::kOutOfRange);
}

TEST_CASE("legacy requests that cannot be routed are accepted and fail alone; length 0 completes at once") {
  TwoEngines engines(4096);
  std::vector<Request> requests(4, engines.request(Opcode::kWrite, 0, 10));
  requests[1].target = 4711;
  requests[2].fields.length = 8192;
  requests[3].fields.length = 0;
  for (Request& request : requests) request.fields.surface = Surface::kLegacy;
  const BatchId batch = engines.run(requests);
  CHECK(engines.report(batch, 0).status.state == TaskState::kCompleted);
  CHECK(engines.report(batch, 1).error.reason == Reason::kUnknownSegment);
  CHECK(engines.report(batch, 2).error.reason == Reason::kOutOfRange);
  CHECK(engines.report(batch, 3).status.state == TaskState::kCompleted);
  CHECK(engines.initiator->batchStatus(batch).value().state == TaskState::kFailed);
  requests[1].source = nullptr;
  CHECK(engines.refused(requests).reason == Reason::kNullSource);
}

TEST_CASE("what this build cannot do keeps an engine from being made") {
  const auto refused = [](const char* config) {
    const auto engine = Engine::create(configOf(config));
    REQUIRE_FALSE(engine);
    return engine.error();
  };
  CHECK(refused(R"({"metadata_type": "etcd"})").reason == Reason::kBadConfiguration);
  CHECK(refused(R"({"rpc_server_hostname": "0.0.0.0"})").reason == Reason::kBadConfiguration);
  CHECK(refused(R"({"rpc_server_hostname": "no such host"})").reason == Reason::kIoError);
  CHECK(Engine::create(configOf(R"({"rpc_server_hostname": "0.0.0.0", "auth": {"mode": "none"}})")));
}

TEST_CASE("programs that the application starts inherit no socket") {
  TwoEngines engines;
  for (const Transport transport : {Transport::kShm, Transport::kTcp}) {
    engines.run({engines.request(Opcode::kRead, 0, 10, transport)});
  }
  const OpenSockets sockets = openSockets();
  CHECK(sockets.inherited == 0);
  CHECK(sockets.count >= 12);  // listeners and both ends: of the control channel, of shm, of tcp
}

TEST_CASE("a port that is taken is named") {
  const auto first = makeEngine();
  const std::string port = first->address().substr(first->address().rfind(':') + 1);
  const auto second = Engine::create(configOf("{\"rpc_server_port\": " + port + "}"));
  REQUIRE_FALSE(second);
  CHECK(second.error().reason == Reason::kIoError);
  CHECK(second.error().detail.find(first->address()) != std::string::npos);
}

TEST_CASE("a transport that the configuration disables is not there for peers either") {
  TwoEngines engines(4096, Registration::kAllocated, R"({"transports": {"shm": {"enable": false}}})");
  CHECK(engines.report(engines.run({engines.request(Opcode::kRead, 0, 10)})).carriedBy() == Transport::kTcp);
  CHECK(engines.refused({engines.request(Opcode::kRead, 0, 10, Transport::kShm)}).reason == Reason::kHintUnavailable);
  const auto opened = engines.target->openSegment(engines.initiator->address());
  REQUIRE(opened);
  CHECK(engines.target->environmentFor(*opened, Registration::kAllocated)->peer_lacks.has(Transport::kShm));
}

TEST_CASE("the environment of a peer on this machine is the one that is probed") {
  TwoEngines engines;
  const Environment environment =
      engines.initiator->environmentFor(engines.segment, Registration::kApplication).value();
  CHECK(environment.same_machine);
  CHECK(environment.origin == Environment::Origin::kProbed);
  CHECK(environment.built == builtBackends());
  CHECK(environment.peer_lacks.empty());
}

TEST_CASE("metrics count what happened") {
  TwoEngines engines;
  engines.run({engines.request(Opcode::kWrite, 0, 1000, Transport::kTcp)});
  engines.refused({engines.request(Opcode::kRead, 0, 1u << 30)});
  Request downgraded = engines.request(Opcode::kRead, 0, 10);
  downgraded.fields.intent_type = 99;
  downgraded.fields.deadline = {DeadlineInput::Kind::kAbsolute, 1};
  const BatchId batch = engines.initiator->allocateBatch(1).value();
  REQUIRE(engines.initiator->submit(batch, {&downgraded, 1}, ValidationMode::kCompat));
  REQUIRE(engines.initiator->wait(batch, kWatchdogNs).value());
  const EngineMetrics metrics = engines.initiator->metrics();
  CHECK(metrics.requests_accepted == 2);
  CHECK(metrics.requests_rejected == 1);
  CHECK(metrics.tasks_completed == 2);
  CHECK(metrics.deadlines_expired_on_submit == 1);
  REQUIRE(metrics.downgrades.size() == 1);
  CHECK(metrics.downgrades[0].reason == DowngradeReason::kUnknownIntentType);
  for (const auto& transport : metrics.transports) {
    if (transport.transport == Transport::kTcp) CHECK(transport.traffic.written_bytes == 1000);
    CHECK(transport.attempts_succeeded == 1);
  }
}

TEST_CASE("an engine with thousands of transfers in flight ends and returns") {
  TwoEngines engines(4u << 20);
  const BatchId batch = engines.initiator->allocateBatch(5000).value();
  const std::vector<Request> requests(5000, engines.request(Opcode::kRead, 0, 1u << 20, Transport::kTcp));
  REQUIRE(engines.initiator->submit(batch, requests, ValidationMode::kStrict));
  CHECK(engines.initiator->freeBatch(batch).reason == Reason::kBadBatch);
  engines.initiator.reset();
}

}  // namespace tent
