// The parts of tent-submit that decide by themselves: waves, patterns, peers, sums.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "common/version.h"
#include "engine/backends.h"
#include "engine/checksum.h"
#include "tent-submit/execution.h"
#include "tent-submit/metrics_file.h"
#include "tent-submit/pattern.h"
#include "tent-submit/peers.h"
#include "tent-submit/wave.h"

namespace tent::tool {
namespace {

std::vector<std::vector<size_t>> wavesOf(std::vector<Planned> planned) {
  WaveCutter cutter(std::move(planned));
  std::vector<std::vector<size_t>> waves;
  for (auto wave = cutter.next(); !wave.empty(); wave = cutter.next()) {
    std::vector<size_t>& entries = waves.emplace_back();
    for (const Item& item : wave) entries.push_back(item.entry);
  }
  return waves;
}

using Waves = std::vector<std::vector<size_t>>;

Outcome outcomeOf(ExecutionStatus status, std::optional<bool> verified, uint64_t bytes = 10) {
  Outcome outcome;
  outcome.status = status;
  outcome.verified = verified;
  outcome.report.status = {status == ExecutionStatus::kCompleted ? TaskState::kCompleted : TaskState::kFailed, bytes};
  outcome.report.submitted_ns = 100;
  outcome.report.ended_ns = 105;
  outcome.report.attempt_count = 1;
  outcome.report.attempts[0].transport = Transport::kTcp;
  outcome.report.dispatch_order = 7;
  if (status != ExecutionStatus::kCompleted) outcome.error.reason = Reason::kPeerLost;
  return outcome;
}

TEST_CASE("reads of one range share a wave, and a write has its range for itself") {
  CHECK(wavesOf({{0, 1, 1000, 100, false}, {1, 1, 1050, 100, false}}) == Waves{{0, 1}});
  CHECK(wavesOf({{0, 1, 1000, 100, false}, {1, 1, 1099, 100, true}}) == Waves{{0}, {1}});
  CHECK(wavesOf({{0, 1, 1000, 100, true}, {1, 1, 1050, 1, false}}) == Waves{{0}, {1}});
  CHECK(wavesOf({{0, 1, 1000, 100, true}, {1, 1, 900, 100, true}, {2, 1, 1100, 1, true}}) == Waves{{0, 1, 2}});
  CHECK(wavesOf({{0, 3, 1000, 100, true}}) == Waves{{0}, {0}, {0}});
  CHECK(wavesOf({{0, 3, 1000, 100, false}}) == Waves{{0, 0, 0}});
}

TEST_CASE("a wave has at most so many transfers, and so much memory unless one alone takes more") {
  const Waves waves = wavesOf({{0, kWaveTasks + 1, 0, 1, false}});
  REQUIRE(waves.size() == 2);
  CHECK(waves[0].size() == kWaveTasks);
  CHECK(waves[1].size() == 1);
  const uint64_t half = kWaveBytes / 2;
  CHECK(wavesOf({{0, 3, 0, half, false}}) == Waves{{0, 0}, {0}});
  CHECK(wavesOf({{0, 1, 0, 5 * kWaveBytes, false}, {1, 1, 0, 1, false}}) == Waves{{0}, {1}});
}

TEST_CASE("waves that are run beside others are given their share of the memory") {
  WaveCutter cutter({{0, 5, 0, 1000, false}}, 2048);
  CHECK(cutter.next().size() == 2);
  CHECK(cutter.next().size() == 2);
  CHECK(cutter.next().size() == 1);
  CHECK(cutter.next().empty());
}

TEST_CASE("a set of ranges answers as a list of bytes would") {
  uint32_t state = 1;
  const auto next = [&state](uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
  };
  for (int round = 0; round < 300; ++round) {
    RangeSet set;
    std::vector<bool> bytes(80, false);
    for (int i = 0; i < 12; ++i) {
      const uint64_t address = next(60);
      const uint64_t length = next(20);
      bool there = false;
      for (uint64_t at = address; at < address + length; ++at) there = there || bytes[at];
      CHECK(set.overlaps(address, length) == there);
      if (next(2) == 0) continue;
      set.add(address, length);
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(address), length, true);
    }
  }
}

TEST_CASE("bytes that differ anywhere do not verify") {
  std::vector<std::byte> sent(4097);
  fillPattern(sent, 42);
  std::vector<std::byte> arrived = sent;
  CHECK_FALSE(compareChecksums(checksumOf(sent), checksumOf(arrived)));
  for (size_t at : {size_t{0}, size_t{63}, size_t{2048}, size_t{4096}}) {
    arrived = sent;
    arrived[at] ^= std::byte{1};
    const Error error = compareChecksums(checksumOf(sent), checksumOf(arrived));
    CHECK(error.reason == Reason::kIoError);
    CHECK(messageOf(error).find("not those that were sent") != std::string::npos);
  }
}

TEST_CASE("patterns of different seeds differ, and an inverted one differs in every byte") {
  for (const size_t length : {size_t{1}, size_t{7}, size_t{8}, size_t{100}}) {
    std::vector<std::byte> a(length);
    fillPattern(a, 1);
    std::vector<std::byte> again(length);
    fillPattern(again, 1);
    CHECK(a == again);
    std::vector<std::byte> inverted = a;
    invert(inverted);
    for (size_t i = 0; i < length; ++i) CHECK(a[i] != inverted[i]);
    fillPattern(again, 2);
    if (length > kOftenAlike) CHECK(a != again);
  }
}

TEST_CASE("peers are named as the command line may name them") {
  CHECK(parsePeer("node-b=10.0.0.2:4000")->name == "node-b");
  CHECK(parsePeer("node-b=10.0.0.2:4000")->address == "10.0.0.2:4000");
  CHECK(parsePeer("[::1]:5")->address == "[::1]:5");
  CHECK(parsePeer("v6=[fe80::1]:5")->name == "v6");
  CHECK(parsePeer("localhost:65535")->name.empty());
  for (const char* text : {"", "a", "a:", ":5", "a:0", "a:65536", "=a:1", "::1:5", "n=", "n=a"})
    CHECK_FALSE(parsePeer(text));
}

TEST_CASE("a name that differs is a conflict only where both sides chose one") {
  const auto conflict = [](const char* given, const char* own) {
    return !nameConflict({{given, "localhost:5"}, false, {own, {}}}).empty();
  };
  CHECK_FALSE(conflict("node-b", "node-b"));
  CHECK_FALSE(conflict("node-b", "127.0.0.1:5"));
  CHECK_FALSE(conflict("", "node-b"));
  CHECK(conflict("node-c", "node-b"));
}

TEST_CASE("a vector's range lies in the first buffer of its registration, and within it") {
  Peer peer;
  peer.info.buffers = {{1000, 50, {}, Permission::kGlobalReadOnly, Registration::kAllocated},
                       {2000, 100, {}, Permission::kGlobalReadWrite, Registration::kApplication},
                       {3000, 100, {MemoryKind::kCpu, 1}, Permission::kGlobalReadWrite, Registration::kApplication}};
  Vector vector;
  vector.fields.length = 10;
  vector.fields.target_offset = 90;
  CHECK(locateTarget(peer, vector).value() == 2090);
  vector.target_memory = {MemoryKind::kCpu, 1};
  CHECK(locateTarget(peer, vector).value() == 3090);
  vector.target_memory = {MemoryKind::kCpu, 0};
  CHECK(locateTarget(peer, vector).value() == 2090);
  vector.fields.target_offset = 91;
  CHECK(locateTarget(peer, vector).error().reason == Reason::kOutOfRange);
  vector.fields.target_offset = UINT64_MAX;
  CHECK(locateTarget(peer, vector).error().reason == Reason::kOutOfRange);
  vector.target_registration = Registration::kAllocated;
  vector.fields.target_offset = 40;
  CHECK(locateTarget(peer, vector).value() == 1040);
  vector.fields.opcode = static_cast<int32_t>(Opcode::kWrite);
  CHECK(locateTarget(peer, vector).error().reason == Reason::kPermissionDenied);
}

TEST_CASE("repetitions are summed, and the first that did not complete is told") {
  Execution execution;
  execution.add(outcomeOf(ExecutionStatus::kCompleted, true));
  execution.add(outcomeOf(ExecutionStatus::kCompleted, true));
  CHECK(execution.bytes == 20);
  CHECK(execution.duration_ns == 10);
  CHECK(execution.bytesPerSecond() == 2'000'000'000u);
  CHECK(execution.verified == true);
  CHECK(execution.transport == Transport::kTcp);
  execution.add(outcomeOf(ExecutionStatus::kFailed, std::nullopt, 0));
  execution.add(outcomeOf(ExecutionStatus::kTimeout, std::nullopt, 0));
  CHECK(execution.status == ExecutionStatus::kFailed);
  CHECK(execution.error.reason == Reason::kPeerLost);
  CHECK(execution.verified == std::nullopt);
  CHECK(execution.repeats == 4);
  execution.add(outcomeOf(ExecutionStatus::kFailed, false));
  execution.add(outcomeOf(ExecutionStatus::kCompleted, true));
  CHECK(execution.verified == false);
}

TEST_CASE("where all repetitions completed, the one that took the most tries is told") {
  Outcome twice = outcomeOf(ExecutionStatus::kCompleted, true);
  twice.report.attempt_count = 2;
  twice.report.attempts[0].reason = Reason::kPeerLost;
  twice.report.attempts[1].transport = Transport::kShm;
  Execution execution;
  for (const Outcome& outcome :
       {outcomeOf(ExecutionStatus::kCompleted, true), twice, outcomeOf(ExecutionStatus::kCompleted, true)}) {
    execution.add(outcome);
  }
  REQUIRE(execution.attempts.size() == 2);
  CHECK(execution.attempts[0].reason == Reason::kPeerLost);
  CHECK(execution.transport == Transport::kShm);
  CHECK(execution.status == ExecutionStatus::kCompleted);
}

TEST_CASE("what was left out is told by why it was") {
  Execution none;
  none.cutShort(ExecutionStatus::kTimeout, errorOf(Reason::kTimeout, ""));
  CHECK(none.status == ExecutionStatus::kNotRun);
  Execution part;
  part.add(outcomeOf(ExecutionStatus::kCompleted, true));
  part.cutShort(ExecutionStatus::kTimeout, errorOf(Reason::kTimeout, ""));
  CHECK(part.status == ExecutionStatus::kTimeout);
  Execution failed;
  failed.add(outcomeOf(ExecutionStatus::kFailed, std::nullopt));
  failed.cutShort(ExecutionStatus::kTimeout, errorOf(Reason::kTimeout, ""));
  CHECK(failed.error.reason == Reason::kPeerLost);
}

TEST_CASE("metrics of several engines are added") {
  EngineMetrics sum;
  EngineMetrics one;
  one.requests_accepted = 3;
  one.downgrades = {{Field::kFlags, DowngradeReason::kFlagsIgnored, 2}};
  one.transports = {{Transport::kTcp, 3, 1, 0, {100, 200, 0, 0}}};
  addMetrics(sum, one);
  addMetrics(sum, one);
  const std::string text = prometheusText(sum);
  for (const char* line : {"tent_requests_total{outcome=\"accepted\"} 6\n",
                           "tent_downgrades_total{field=\"flags\",reason=\"flags_ignored\"} 4\n",
                           "tent_attempts_total{transport=\"tcp\",outcome=\"failed\"} 2\n",
                           "tent_bytes_total{transport=\"tcp\",direction=\"write\",role=\"initiator\"} 400\n"}) {
    CHECK_MESSAGE(text.find(line) != std::string::npos, line);
  }
}

TEST_CASE("the tools say that they contain what the engine contains") {
  CHECK(builtTransports() == builtBackends());
}

}  // namespace
}  // namespace tent::tool
