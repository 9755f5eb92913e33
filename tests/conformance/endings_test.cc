// What a link does when its peer dies, stands still, or was never there.
#include <string>
#include <vector>

#include "conformance/fixture.h"

namespace tent::conformance {
namespace {

constexpr uint64_t kShortNs = 300'000'000;

void neverThere(const Kind& kind) {
  Fixture fixture(kind);
  const RemoteRegion region = fixture.target.memory(100, Access::kReadWrite);
  const std::string answer = fixture.target.answer(fixture.backend->offer());
  fixture.target.kill();
  const Bytes local(100, 1);
  OpenLink link;
  link.told = std::make_shared<Recorder>();
  link.link = std::move(*fixture.backend->connect(answer, "127.0.0.1", link.told));
  Transfer transfer = transferOf(Direction::kWrite, local.data(), 100, region, 0);
  link.link->submit({&transfer, 1});
  CHECK(nameOf(link.link->waitReady(kWatchdogNs).reason) == "peer_unreachable");
  REQUIRE(link.told->waitClosed());
  CHECK(nameOf(link.told->end()->reason) == "peer_unreachable");
  CHECK(nameOf(link.told->of(0).reason) == "peer_unreachable");
  CHECK(link.told->of(0).aftermath == Aftermath::kUntouched);
  CHECK(link.told->count() == 1);
}
CONTRACT("a peer that has ended before the link is unreachable", neverThere)

void doesNotAnswer(const Kind& kind) {
  Limits limits;
  limits.connect_ns = limits.stall_ns = kShortNs;
  Fixture fixture(kind, limits);
  const std::string answer = fixture.target.answer(fixture.backend->offer());
  fixture.target.stop();
  const auto told = std::make_shared<Recorder>();
  const auto link = fixture.backend->connect(answer, "127.0.0.1", told);
  REQUIRE(link);
  CHECK(nameOf((*link)->waitReady(kWatchdogNs).reason) == "peer_unreachable");
  CHECK(told->waitClosed());
  fixture.target.resume();
  OpenLink again = fixture.open();
}
CONTRACT("a peer that does not answer in time is unreachable", doesNotAnswer)

void killed(const Kind& kind) {
  Fixture fixture(kind);
  const uint64_t bytes = kind.largest / 8;
  const RemoteRegion region = fixture.target.memory(bytes, Access::kReadWrite);
  const RemoteRegion sink = fixture.target.memory(bytes, Access::kReadWrite);
  fixture.target.fill(region, 1);
  const Bytes expected(bytes, 1);
  const Bytes local(bytes, 2);
  const Bytes source(bytes, 3);
  OpenLink link = fixture.open();
  constexpr uint64_t kPieces = 16;
  const uint64_t share = bytes / kPieces;
  std::vector<Transfer> transfers;
  for (uint64_t i = 0; i < kPieces; ++i) {
    transfers.push_back(transferOf(Direction::kRead, local.data() + i * share, share, region, i * share));
    transfers.push_back(transferOf(Direction::kWrite, source.data() + i * share, share, sink, i * share));
  }
  for (size_t i = 0; i < transfers.size(); ++i) transfers[i].token = i;
  link.told->watch(*link.link);
  link.link->submit(transfers);
  REQUIRE(link.told->waitCompleted(1));
  fixture.target.kill();
  REQUIRE(link.told->waitClosed());
  CHECK(nameOf(link.told->end()->reason) == "peer_lost");
  CHECK(link.told->endedWhenTold());
  REQUIRE(link.told->count() == transfers.size());
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Completion completion = link.told->of(i);
    CAPTURE(i);
    if (completion.reason != Reason::kNone) {
      CHECK(nameOf(completion.reason) == "peer_lost");
    } else if (transfers[i].direction == Direction::kRead) {
      CHECK(sameBytes(transfers[i].local, expected.data() + i / 2 * share, share));
    }
  }
  // Later ones: none is done.
  Transfer late = transferOf(Direction::kWrite, source.data(), 100, sink, 0);
  late.token = 1000;
  CHECK(link.told->isConsistent());
  link.link->submit({&late, 1});
  CHECK(nameOf(link.told->of(1000).reason) == "peer_lost");
}
CONTRACT("when the peer is killed every transfer is told, and none as done that is not", killed)

void killedIdle(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  fixture.target.kill();
  REQUIRE(link.told->waitClosed());
  CHECK(nameOf(link.told->end()->reason) == "peer_lost");
}
CONTRACT_OF_TCP("a peer that dies is noticed without a transfer", killedIdle)
CONTRACT_OF_SHM("a peer that dies is noticed without a transfer", killedIdle)

// Of the backends in which the target's process takes part in each transfer.
void standsStill(const Kind& kind) {
  Limits limits;
  limits.stall_ns = kShortNs;
  Fixture fixture(kind, limits);
  const RemoteRegion region = fixture.target.memory(8 * kMiB, Access::kReadWrite);
  const Bytes local(8 * kMiB, 1);
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    OpenLink link = fixture.open();
    fixture.carryOut(link, {transferOf(direction, local.data(), 1, region, 0)});
    fixture.target.stop();
    std::vector<Transfer> transfers;
    for (uint64_t i = 1; i <= 3; ++i) {
      transfers.push_back(transferOf(direction, local.data(), 8 * kMiB, region, 0));
      transfers.back().token = i;
    }
    link.link->submit(transfers);
    REQUIRE(link.told->waitClosed());
    CHECK(nameOf(link.told->end()->reason) == "peer_lost");
    CHECK(link.told->count() == 4);
    for (uint64_t i = 1; i <= 3; ++i) {
      CHECK(nameOf(link.told->of(i).reason) == "peer_lost");
      if (direction == Direction::kRead) CHECK(link.told->of(i).aftermath != Aftermath::kUnsettled);
    }
    CHECK(link.told->isConsistent());
    fixture.target.resume();
  }
}
CONTRACT_OF_TCP("a peer that stands still is lost within the limit", standsStill)
CONTRACT_OF_FAKE("a peer that stands still is lost within the limit", standsStill)

// Of the backends that reach the memory without the target's process.
void isNotNeeded(const Kind& kind) {
  Limits limits;
  limits.connect_ns = kShortNs;
  Fixture fixture(kind, limits);
  const RemoteRegion region = fixture.target.memory(8 * kMiB, Access::kReadWrite);
  const RemoteRegion unknown = fixture.target.memory(100, Access::kReadWrite);
  const Bytes local(8 * kMiB, 1);
  OpenLink link = fixture.open();
  fixture.carryOut(link, {transferOf(Direction::kWrite, local.data(), 1, region, 0)});
  fixture.target.stop();
  fixture.carryOut(link, {transferOf(Direction::kWrite, local.data(), 8 * kMiB, region, 0)}, 10);
  // But a region that was never used must be asked for.
  Transfer transfer = transferOf(Direction::kWrite, local.data(), 100, unknown, 0);
  transfer.token = 20;
  link.link->submit({&transfer, 1});
  REQUIRE(link.told->waitClosed());
  CHECK(nameOf(link.told->of(20).reason) == "peer_lost");
  CHECK(link.told->of(20).aftermath == Aftermath::kUntouched);
  fixture.target.resume();
  CHECK(fixture.target.checksum(region.base, region.length) == local.checksum());
}
CONTRACT_OF_SHM("known memory of a peer that stands still is reached, other is not", isNotNeeded)

}  // namespace
}  // namespace tent::conformance
