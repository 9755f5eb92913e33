// What is moved arrives, whole and nowhere else.
#include <algorithm>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "conformance/fixture.h"

namespace tent::conformance {
namespace {

constexpr uint64_t kPage = 4096;

// The target's region and what it should hold; every byte of it is looked at.
class Mirror {
 public:
  Mirror(Fixture& fixture, uint64_t bytes, uint64_t seed)
      : target_(fixture.target), region_(target_.memory(bytes, Access::kReadWrite)), expected_(bytes, seed) {
    target_.fill(region_, seed);
  }
  const RemoteRegion& region() const { return region_; }
  std::byte* expected() const { return expected_.data(); }
  void expectWritten(const Transfer& transfer) {
    std::memcpy(expected() + (transfer.remote_address - region_.base), transfer.local, transfer.length);
  }
  bool isAsExpected() const { return target_.checksum(region_.base, region_.length) == expected_.checksum(); }

 private:
  TargetProcess& target_;
  RemoteRegion region_;
  Bytes expected_;
};

void roundTrip(Fixture& fixture, OpenLink& link, Mirror& mirror, uint64_t size, uint64_t seed) {
  CAPTURE(size);
  // Neither end is aligned, and there is something on both sides of each.
  constexpr uint64_t kLocalOffset = 3;
  constexpr uint64_t kRemoteOffset = kPage - 5;
  const Bytes source(size + 2 * kPage, seed);
  const Transfer write =
      transferOf(Direction::kWrite, source.data() + kLocalOffset, size, mirror.region(), kRemoteOffset);
  fixture.carryOut(link, {write}, 2 * seed);
  mirror.expectWritten(write);
  CHECK(mirror.isAsExpected());

  const Bytes into(size + 2 * kPage, seed + 1);
  const Bytes expected(size + 2 * kPage, seed + 1);
  std::memcpy(expected.data() + kLocalOffset, mirror.expected() + kRemoteOffset, size);
  fixture.carryOut(link,
                   {transferOf(Direction::kRead, into.data() + kLocalOffset, size, mirror.region(), kRemoteOffset)},
                   2 * seed + 1);
  CHECK(into == expected);
}

void everySize(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  Mirror mirror(fixture, 5 * kMiB, 1);
  uint64_t seed = 100;
  for (const uint64_t size : {uint64_t{1}, kPage - 1, kPage, kPage + 1, 64 * 1024 - uint64_t{1}, uint64_t{64 * 1024},
                              4 * kMiB - 1, 4 * kMiB, 4 * kMiB + 1}) {
    roundTrip(fixture, link, mirror, size, seed += 2);
  }
  CHECK(link.told->isConsistent());
}
CONTRACT("a transfer of any size arrives whole and touches nothing else", everySize)

// Checked by checksums in place, without the copies that the other cases make: under sanitizers those take longest.
void theLargest(const Kind& kind) {
  constexpr uint64_t kMargin = kPage - 5;
  const uint64_t bytes = kind.largest;
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  const RemoteRegion region = fixture.target.memory(bytes + 2 * kMargin, Access::kReadWrite);
  fixture.target.fill(region, 1);
  const Bytes local(bytes + 2 * kMargin, 2);
  const auto remote_sum = [&](uint64_t offset, uint64_t length) {
    return fixture.target.checksum(region.base + offset, length);
  };
  const auto local_sum = [&](uint64_t offset, uint64_t length) { return checksumOf(local.data() + offset, length); };
  const auto margins_of = [&](const auto& sum) { return std::pair(sum(0, kMargin), sum(kMargin + bytes, kMargin)); };
  const auto remote_margins = margins_of(remote_sum);
  const uint64_t moved = local_sum(kMargin, bytes);
  fixture.carryOut(link, {transferOf(Direction::kWrite, local.data() + kMargin, bytes, region, kMargin)});
  CHECK(remote_sum(kMargin, bytes) == moved);
  CHECK(margins_of(remote_sum) == remote_margins);

  fillPattern(local.data(), local.size(), 3);
  const auto local_margins = margins_of(local_sum);
  fixture.carryOut(link, {transferOf(Direction::kRead, local.data() + kMargin, bytes, region, kMargin)}, 1);
  CHECK(local_sum(kMargin, bytes) == moved);
  CHECK(margins_of(local_sum) == local_margins);
}
CONTRACT("a very large transfer arrives whole and touches nothing else", theLargest)

void everyAlignment(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  Mirror mirror(fixture, 64 * 128, 1);
  const Bytes local(64 * 128, 2);
  const Bytes expected(64 * 128, 2);
  std::vector<Transfer> transfers;
  for (uint64_t slot = 0; slot < 64; ++slot) {
    const uint64_t length = 61;
    const uint64_t here = slot * 128 + slot % 8;
    const uint64_t there = slot * 128 + slot / 8;
    const Direction direction = slot % 3 == 0 ? Direction::kRead : Direction::kWrite;
    transfers.push_back(transferOf(direction, local.data() + here, length, mirror.region(), there));
    if (direction == Direction::kRead) {
      std::memcpy(expected.data() + here, mirror.expected() + there, length);
    } else {
      mirror.expectWritten(transfers.back());
    }
  }
  fixture.carryOut(link, transfers);
  CHECK(local == expected);
  CHECK(mirror.isAsExpected());
}
CONTRACT("addresses need not be aligned", everyAlignment)

// Cuts `bytes` into pieces of 1 to `longest`.
std::vector<uint64_t> cuts(uint64_t bytes, uint64_t longest, std::mt19937_64& random) {
  std::vector<uint64_t> begins;
  for (uint64_t at = 0; at < bytes; at += 1 + random() % longest) begins.push_back(at);
  begins.push_back(bytes);
  return begins;
}

void thousands(const Kind& kind) {
  constexpr uint64_t kRangeBytes = 2 * kMiB;
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  Mirror mirror(fixture, kRangeBytes, 1);
  const Bytes local(kRangeBytes, 2);
  const Bytes expected(kRangeBytes, 2);
  std::mt19937_64 random(3);
  const std::vector<uint64_t> begins = cuts(kRangeBytes, 700, random);
  std::vector<Transfer> transfers;
  for (size_t i = 0; i + 1 < begins.size(); ++i) {
    // Adjacent pieces go different ways, so a byte too many shows.
    const Direction direction = random() % 2 == 0 ? Direction::kRead : Direction::kWrite;
    const uint64_t length = begins[i + 1] - begins[i];
    transfers.push_back(transferOf(direction, local.data() + begins[i], length, mirror.region(), begins[i]));
    if (direction == Direction::kRead) {
      std::memcpy(expected.data() + begins[i], mirror.expected() + begins[i], length);
    }
  }
  for (const Transfer& transfer : transfers) {
    if (transfer.direction == Direction::kWrite) mirror.expectWritten(transfer);
  }
  std::shuffle(transfers.begin(), transfers.end(), random);
  REQUIRE(transfers.size() > 4000);
  fixture.carryOut(link, transfers);
  CHECK(local == expected);
  CHECK(mirror.isAsExpected());
  CHECK(link.told->isConsistent());
}
CONTRACT("thousands of transfers of one submit arrive, each in its place", thousands)

void overlappingReads(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  Mirror mirror(fixture, 64 * 1024, 1);
  constexpr uint64_t kLength = 10'000;
  const Bytes local(200 * kLength, 2);
  std::vector<Transfer> transfers;
  for (uint64_t i = 0; i < 200; ++i) {
    transfers.push_back(transferOf(Direction::kRead, local.data() + i * kLength, kLength, mirror.region(), i * 250));
  }
  fixture.carryOut(link, transfers);
  for (uint64_t i = 0; i < 200; ++i) {
    REQUIRE(sameBytes(local.data() + i * kLength, mirror.expected() + i * 250, kLength));
  }
}
CONTRACT("reads may overlap", overlappingReads)

void overlappingWrites(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  Mirror mirror(fixture, 64 * 1024, 1);
  // All that write a byte write the same, so the order in which they end does not matter.
  const Bytes source(64 * 1024, 2);
  std::vector<Transfer> transfers;
  for (uint64_t i = 0; i < 50; ++i) {
    const uint64_t offset = i * 1000;
    transfers.push_back(transferOf(Direction::kWrite, source.data() + offset, 10'000, mirror.region(), offset));
    mirror.expectWritten(transfers.back());
  }
  fixture.carryOut(link, transfers);
  CHECK(mirror.isAsExpected());
}
CONTRACT("writes that overlap leave what they have written", overlappingWrites)

void traffic(const Kind& kind) {
  Fixture fixture(kind);
  OpenLink link = fixture.open();
  Mirror mirror(fixture, 6 * kMiB, 1);
  const Bytes local(7 * kMiB, 2);  // a refused write may be read from, so it has all its bytes
  const auto move = [&](Direction direction, uint64_t length) {
    return transferOf(direction, local.data(), length, mirror.region(), 0);
  };
  fixture.carryOut(link, {move(Direction::kRead, 1)});
  fixture.carryOut(link, {move(Direction::kWrite, 4097)}, 10);
  fixture.carryOut(link, {move(Direction::kRead, 5 * kMiB + 3)}, 20);
  fixture.carryOut(link, {move(Direction::kWrite, 5 * kMiB + 1)}, 30);
  fixture.checkRefused(link, move(Direction::kWrite, 6 * kMiB + 1), Reason::kOutOfRange);

  const Traffic here = fixture.backend->traffic();
  CHECK(here.read_bytes == 5 * kMiB + 4);
  CHECK(here.written_bytes == 5 * kMiB + 4098);
  CHECK(here.served_read_bytes == 0);
  CHECK(here.served_written_bytes == 0);
  const Traffic there = fixture.target.traffic();
  CHECK(there.served_read_bytes == (kind.target_counts ? here.read_bytes : 0));
  CHECK(there.served_written_bytes == (kind.target_counts ? here.written_bytes : 0));
}
CONTRACT("both ends count exactly what was moved, so it is known who carried it", traffic)

void manyLinks(const Kind& kind) {
  constexpr size_t kLinks = 16;
  constexpr uint64_t kShare = 128 * 1024 + 7;
  Fixture fixture(kind);
  Mirror mirror(fixture, kLinks * kShare, 1);
  const Bytes source(kLinks * kShare, 2);
  std::vector<OpenLink> links;
  for (size_t i = 0; i < kLinks; ++i) links.push_back(fixture.connect());
  for (size_t i = 0; i < kLinks; ++i) {
    const uint64_t offset = i * kShare;
    Transfer transfer = transferOf(Direction::kWrite, source.data() + offset, kShare, mirror.region(), offset);
    transfer.token = i;
    links[i].link->submit({&transfer, 1});
    mirror.expectWritten(transfer);
  }
  for (size_t i = 0; i < kLinks; ++i) {
    REQUIRE(links[i].told->waitCompleted(1));
    CHECK(nameOf(links[i].told->of(i).reason) == "");
  }
  CHECK(mirror.isAsExpected());
  // The end of one is not that of the others.
  links.erase(links.begin(), links.begin() + kLinks / 2);
  for (size_t i = 0; i < links.size(); ++i) {
    const Transfer again = transferOf(Direction::kWrite, source.data(), 100, mirror.region(), i * 100);
    fixture.carryOut(links[i], {again}, 100);
    mirror.expectWritten(again);
  }
  CHECK(mirror.isAsExpected());
}
CONTRACT("many links work side by side", manyLinks)

}  // namespace
}  // namespace tent::conformance
