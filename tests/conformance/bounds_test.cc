// What a target does not allow is refused, that alone, and without effect.
#include <vector>

#include "conformance/fixture.h"

namespace tent::conformance {
namespace {

constexpr uint64_t kRegionBytes = 10'000;

void outOfRange(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  const RemoteRegion region = fixture.target.memory(kRegionBytes, Access::kReadWrite);
  fixture.target.fill(region, 1);
  const Bytes remote(kRegionBytes, 1);
  const Bytes local(4 * kRegionBytes, 2);
  const Bytes untouched(4 * kRegionBytes, 2);
  const auto refused = [&](uint64_t address, uint64_t length) {
    CAPTURE(address - region.base);
    CAPTURE(length);
    for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
      fixture.checkRefused(link, {direction, local.data(), length, address, &region, 0}, Reason::kOutOfRange);
    }
  };
  refused(region.base - 1, 1);
  refused(region.base - 1, 2);
  refused(region.base + kRegionBytes, 1);
  refused(region.base + kRegionBytes - 1, 2);
  refused(region.base, kRegionBytes + 1);
  refused(region.base + 1, kRegionBytes);
  refused(region.base - kRegionBytes, 3 * kRegionBytes);
  refused(0, 1);
  refused(UINT64_MAX, 1);
  refused(UINT64_MAX - 3, 8);
  refused(UINT64_MAX - kRegionBytes + 2, kRegionBytes);
  CHECK(local == untouched);
  CHECK(fixture.target.checksum(region.base, kRegionBytes) == remote.checksum());
  // The very edges are inside, and the link has taken no harm.
  fixture.carryOut(link, {transferOf(Direction::kRead, local.data(), kRegionBytes, region, 0),
                          transferOf(Direction::kRead, local.data() + kRegionBytes, 1, region, kRegionBytes - 1)});
  CHECK(sameBytes(local.data(), remote.data(), kRegionBytes));
}
CONTRACT("ranges that a region does not hold are refused, without effect", outOfRange)

void falseDescription(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  const RemoteRegion region = fixture.target.memory(kRegionBytes, Access::kRead);
  const Bytes local(2 * kRegionBytes, 2);
  RemoteRegion larger = region;
  larger.length = 2 * kRegionBytes;
  larger.access = Access::kReadWrite;
  fixture.checkRefused(link, transferOf(Direction::kRead, local.data(), kRegionBytes + 1, larger, 0),
                       Reason::kOutOfRange);
  fixture.checkRefused(link, transferOf(Direction::kWrite, local.data(), 1, larger, 0), Reason::kPermissionDenied);
}
CONTRACT("the target's own description counts, not what the initiator believes", falseDescription)

void oneOfMany(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  const RemoteRegion region = fixture.target.memory(kRegionBytes, Access::kReadWrite);
  const Bytes local(kRegionBytes, 2);
  std::vector<Transfer> transfers;
  for (uint64_t i = 0; i < 90; ++i) {
    transfers.push_back(transferOf(Direction::kWrite, local.data() + i * 100, 100, region, i * 100));
    transfers.back().token = i;
    if (i % 30 == 7) transfers.back().remote_address = region.base + kRegionBytes - 99;
  }
  link.link->submit(transfers);
  REQUIRE(link.told->waitCompleted(transfers.size(), link.link.get()));
  for (uint64_t i = 0; i < 90; ++i) {
    const Completion completion = link.told->of(i);
    CHECK(nameOf(completion.reason) == (i % 30 == 7 ? "out_of_range" : ""));
    if (i % 30 != 7) {
      CHECK(fixture.target.checksum(region.base + i * 100, 100) == checksumOf(local.data() + i * 100, 100));
    }
  }
  CHECK(link.told->isConsistent());
}
CONTRACT("a refused transfer takes no other with it", oneOfMany)

void permissions(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  const Bytes local(kRegionBytes, 2);
  const RemoteRegion readable = fixture.target.memory(kRegionBytes, Access::kRead);
  const RemoteRegion hidden = fixture.target.memory(kRegionBytes, Access::kNone);
  fixture.target.fill(readable, 1);
  fixture.target.fill(hidden, 3);

  fixture.checkRefused(link, transferOf(Direction::kWrite, local.data(), 100, readable, 0), Reason::kPermissionDenied);
  fixture.checkRefused(link, transferOf(Direction::kWrite, local.data(), 100, hidden, 0), Reason::kPermissionDenied);
  fixture.checkRefused(link, transferOf(Direction::kRead, local.data(), 100, hidden, 0), Reason::kPermissionDenied);
  CHECK(local == Bytes(kRegionBytes, 2));
  CHECK(fixture.target.checksum(readable.base, kRegionBytes) == Bytes(kRegionBytes, 1).checksum());
  CHECK(fixture.target.checksum(hidden.base, kRegionBytes) == Bytes(kRegionBytes, 3).checksum());

  fixture.carryOut(link, {transferOf(Direction::kRead, local.data(), kRegionBytes, readable, 0)});
  CHECK(local == Bytes(kRegionBytes, 1));
}
CONTRACT("what a region does not permit is refused, without effect", permissions)

void unregistered(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  const RemoteRegion region = fixture.target.memory(kRegionBytes, Access::kReadWrite);
  const RemoteRegion other = fixture.target.memory(kRegionBytes, Access::kReadWrite);
  const RemoteRegion never_used = fixture.target.memory(kRegionBytes, Access::kReadWrite);
  const Bytes local(kRegionBytes, 2);
  fixture.carryOut(link, {transferOf(Direction::kWrite, local.data(), kRegionBytes, region, 0),
                          transferOf(Direction::kWrite, local.data(), kRegionBytes, other, 0)});
  fixture.target.unregister(region);
  fixture.target.unregister(never_used);
  const uint64_t before = fixture.target.checksum(region.base, kRegionBytes);
  const Bytes another(kRegionBytes, 4);
  for (const RemoteRegion* gone : {&region, &never_used}) {
    for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
      fixture.checkRefused(link, transferOf(direction, another.data(), kRegionBytes, *gone, 0), Reason::kOutOfRange);
    }
  }
  CHECK(another == Bytes(kRegionBytes, 4));
  CHECK(fixture.target.checksum(region.base, kRegionBytes) == before);
  fixture.carryOut(link, {transferOf(Direction::kRead, another.data(), kRegionBytes, other, 0)}, 10);
  CHECK(another == local);
}
CONTRACT("once a region is unregistered nothing reaches it any more", unregistered)

void unregisteredMeanwhile(const Kind& kind) {
  constexpr uint64_t kLarge = 8u << 20;
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  const RemoteRegion region = fixture.target.memory(kLarge, Access::kReadWrite);
  const Bytes local(kLarge, 2);
  std::vector<Transfer> transfers;
  for (uint64_t i = 0; i < 8; ++i) {
    transfers.push_back(transferOf(Direction::kWrite, local.data(), kLarge, region, 0));
    transfers.back().token = i;
  }
  link.link->submit(transfers);
  REQUIRE(link.told->waitCompleted(1));
  fixture.target.unregister(region);
  // What the memory holds now stays: no copy is going on any more.
  fixture.target.fill(region, 9);
  REQUIRE(link.told->waitCompleted(transfers.size()));
  for (uint64_t i = 0; i < transfers.size(); ++i) {
    const std::string_view reason = nameOf(link.told->of(i).reason);
    CHECK((reason == "" || reason == "out_of_range"));
  }
  CHECK(fixture.target.checksum(region.base, kLarge) == Bytes(kLarge, 9).checksum());
  CHECK(link.told->isConsistent());
}
CONTRACT("unregistering waits for what is going on", unregisteredMeanwhile)

}  // namespace
}  // namespace tent::conformance
