// How links begin, and how they end by this end's will.
#include <string>
#include <vector>

#include "conformance/fixture.h"

namespace tent::conformance {
namespace {

// So many writes of 1 MiB that they do not end at once; tokens from 0. The region has room for them.
std::vector<Transfer> manyWrites(const Bytes& local, const RemoteRegion& region) {
  std::vector<Transfer> transfers;
  for (uint64_t i = 0; i < region.length / kMiB; ++i) {
    transfers.push_back(transferOf(Direction::kWrite, local.data() + i * kMiB, kMiB, region, i * kMiB));
    transfers.back().token = i;
  }
  return transfers;
}

void beforeReady(const Kind& kind) {
  Fixture fixture(kind);
  const RemoteRegion region = fixture.target.memory(3 * kMiB, Access::kReadWrite);
  const Bytes local(3 * kMiB, 1);
  OpenLink link = fixture.connect();
  fixture.carryOut(link, manyWrites(local, region));
  CHECK(fixture.target.checksum(region.base, region.length) == local.checksum());
  CHECK_FALSE(link.link->waitReady(0));
  CHECK_FALSE(link.link->reaches(region));
}
CONTRACT("what is submitted before a link is ready waits for it", beforeReady)

void onceOnly(const Kind& kind) {
  Fixture fixture(kind);
  const std::string answer = fixture.target.answer(fixture.backend->offer());
  const auto first_told = std::make_shared<Recorder>();
  const auto first = fixture.backend->connect(answer, "127.0.0.1", first_told);
  REQUIRE(first);
  REQUIRE_FALSE((*first)->waitReady(kWatchdogNs));
  const auto second_told = std::make_shared<Recorder>();
  const auto second = fixture.backend->connect(answer, "127.0.0.1", second_told);
  REQUIRE(second);
  CHECK(nameOf((*second)->waitReady(kWatchdogNs).reason) == "auth_failed");
  CHECK(second_told->waitClosed());
  CHECK_FALSE(first_told->end());
}
CONTRACT("an answer lets one link in", onceOnly)

void nonsense(const Kind& kind) {
  Fixture fixture(kind);
  const std::string good = fixture.target.answer(fixture.backend->offer());
  const std::string texts[] = {"",         " ",         "x",        std::string(1000, 'a'), good + " ", good.substr(1),
                               good + "0", good + "\n", " " + good, std::string(1, '\0')};
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto told = std::make_shared<Recorder>();
    CHECK_FALSE(fixture.backend->connect(text, "127.0.0.1", told));
    CHECK_FALSE(told->end());
    CHECK_FALSE(fixture.backend->answer(fixture.backend->offer() + "x" + text));
  }
}
CONTRACT("an offer or an answer that makes no sense is an error", nonsense)

void canceled(const Kind& kind) {
  Fixture fixture(kind);
  const RemoteRegion region = fixture.target.memory(32 * kMiB, Access::kReadWrite);
  fixture.target.fill(region, 1);
  const Bytes before(32 * kMiB, 1);
  const Bytes local(32 * kMiB, 2);
  OpenLink link = fixture.connect();
  const std::vector<Transfer> transfers = manyWrites(local, region);
  link.link->submit(transfers);
  std::vector<bool> taken_back(transfers.size());
  for (size_t i = transfers.size(); i-- > 0;) {
    taken_back[i] = link.link->cancel(i);
    // Reported before cancel returns.
    if (taken_back[i]) CHECK(nameOf(link.told->of(i).reason) == "canceled");
    CHECK_FALSE((taken_back[i] && link.link->cancel(i)));
  }
  CHECK_FALSE(link.link->cancel(12345));
  REQUIRE(link.told->waitCompleted(transfers.size(), link.link.get()));
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Completion completion = link.told->of(i);
    CHECK(nameOf(completion.reason) == (taken_back[i] ? "canceled" : ""));
    CHECK(completion.aftermath == Aftermath::kUntouched);
    const std::byte* const expected = (taken_back[i] ? before : local).data() + i * kMiB;
    CHECK(fixture.target.checksum(region.base + i * kMiB, kMiB) == checksumOf(expected, kMiB));
  }
  CHECK(link.told->isConsistent());
  fixture.carryOut(link, {transferOf(Direction::kWrite, local.data(), kMiB, region, 0)}, 100);
}
CONTRACT("what was taken back has no effect, and the rest goes on to its end", canceled)

void closed(const Kind& kind) {
  Fixture fixture(kind);
  const RemoteRegion region = fixture.target.memory(32 * kMiB, Access::kReadWrite);
  const Bytes local(32 * kMiB, 2);
  OpenLink link = fixture.open();
  const std::vector<Transfer> transfers = manyWrites(local, region);
  link.link->submit(transfers);
  REQUIRE(link.told->waitCompleted(1));
  CHECK_FALSE(link.link->ended());
  link.link->close(errorOf(Reason::kTimeout, "by the test"));
  REQUIRE(link.told->waitClosed());
  CHECK(nameOf(link.told->end()->reason) == "timeout");
  CHECK(link.link->ended());
  CHECK(nameOf(link.link->waitReady(0).reason) == "timeout");
  CHECK(nameOf(link.link->reaches(region).reason) == (kind.suite.starts_with("shm") ? "timeout" : ""));
  REQUIRE(link.told->count() == transfers.size());
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Completion completion = link.told->of(i);
    if (completion.reason == Reason::kNone) {
      CHECK(fixture.target.checksum(region.base + i * kMiB, kMiB) == checksumOf(local.data() + i * kMiB, kMiB));
    } else {
      CHECK(nameOf(completion.reason) == "timeout");
    }
  }
  link.link->close(errorOf(Reason::kCanceled, {}));
  link.link.reset();
  CHECK(link.told->isConsistent());
}
CONTRACT("closing a link ends its transfers, each told once, and then the link", closed)

void destroyed(const Kind& kind) {
  Fixture fixture(kind);
  const RemoteRegion region = fixture.target.memory(16 * kMiB, Access::kReadWrite);
  const Bytes local(16 * kMiB, 2);
  for (int i = 0; i < 20; ++i) {
    OpenLink link = i % 2 == 0 ? fixture.open() : fixture.connect();
    link.link->submit(manyWrites(local, region));
    link.link.reset();
    REQUIRE(link.told->waitClosed());
    CHECK(link.told->count() == 16);
    CHECK(link.told->isConsistent());
  }
}
CONTRACT("a link may be destroyed at any time", destroyed)

void submittedLate(const Kind& kind) {
  Fixture fixture(kind);
  const RemoteRegion region = fixture.target.memory(kMiB, Access::kReadWrite);
  const Bytes local(kMiB, 2);
  OpenLink link = fixture.open();
  link.link->close(errorOf(Reason::kTimeout, "by the test"));
  REQUIRE(link.told->waitClosed());
  link.link->submit(manyWrites(local, region));
  const Completion completion = link.told->of(0);
  CHECK(nameOf(completion.reason) == "timeout");
  CHECK(completion.aftermath == Aftermath::kUntouched);
}
CONTRACT("what is submitted to a link that has ended is reported at once", submittedLate)

void stopped(const Kind& kind) {
  Fixture fixture(kind);
  const RemoteRegion region = fixture.target.memory(16 * kMiB, Access::kReadWrite);
  const Bytes local(16 * kMiB, 2);
  std::vector<OpenLink> links;
  for (int i = 0; i < 4; ++i) {
    links.push_back(fixture.open());
    links.back().link->submit(manyWrites(local, region));
  }
  fixture.backend->stop();
  for (const OpenLink& link : links) {
    REQUIRE(link.told->waitClosed());
    CHECK(link.told->count() == 16);
    CHECK(link.told->isConsistent());
  }
  CHECK_FALSE(fixture.backend->connect("", "127.0.0.1", std::make_shared<Recorder>()));
}
CONTRACT("stopping a backend ends its links", stopped)

}  // namespace
}  // namespace tent::conformance
