// The script decides the fate of each transfer; that bytes move is for tests/conformance.
#include "transport/fake/fake_backend.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "unit/transport/recorder.h"

namespace tent {
namespace {

using Script = FakeScript;

struct Scripted {
  Scripted() : backend(*makeFakeBackend(options())) {
    REQUIRE(backend->registerRegion({1, memory.data(), memory.size(), Access::kReadWrite, nullptr}));
    region = {1, reinterpret_cast<uintptr_t>(memory.data()), memory.size(), Access::kReadWrite, false, {}};
    local.fill(std::byte{7});
    link = connect(told);
  }
  ~Scripted() {
    link.reset();
    backend->stop();
  }
  Scripted(const Scripted&) = delete;
  Scripted& operator=(const Scripted&) = delete;

  FakeOptions options() const {
    FakeOptions made;
    made.name = "rdma";
    made.queue_transfers = 3;
    made.queue_bytes = 1000;
    made.script = script;
    return made;
  }
  std::unique_ptr<Link> connect(const std::shared_ptr<Recorder>& observer) {
    return *backend->connect(*backend->answer(backend->offer()), "", observer);
  }
  void write(uint64_t token, uint64_t length = 100) {
    const Transfer transfer{Direction::kWrite, local.data(), length, region.base, &region, token};
    link->submit({&transfer, 1});
  }
  int64_t written() const { return std::count(memory.begin(), memory.end(), std::byte{7}); }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::shared_ptr<Recorder> told = std::make_shared<Recorder>();
  std::array<std::byte, 1000> memory{};
  std::array<std::byte, 1000> local{};
  std::unique_ptr<Backend> backend;
  RemoteRegion region;
  std::unique_ptr<Link> link;
};

std::string fateOf(const Completion& completion) {
  if (completion.reason == Reason::kNone) return "done";
  return std::string(nameOf(completion.reason)) + " " + std::string(nameOf(completion.aftermath));
}

TEST_CASE("it says of itself what it was told to") {
  const Scripted fake;
  CHECK(fake.backend->capabilities().name == "rdma");
  CHECK(fake.backend->capabilities().queue_transfers == 3);
  CHECK(fake.backend->capabilities().queue_bytes == 1000);
  CHECK_FALSE(fake.backend->capabilities().one_machine);
}

TEST_CASE("transfers meet the fates of the script in order, then the usual one") {
  Scripted fake;
  fake.script->next(Script::failUntouched(Reason::kIoError));
  fake.script->next(Script::failSettled(Reason::kPeerLost, 10));
  fake.script->next(Script::complete());
  fake.script->next(Script::failUnsettled(Reason::kTimeout, 0), 2);
  fake.script->usually(Script::failUntouched(Reason::kResourceExhausted));

  fake.write(1);
  CHECK(fateOf(fake.told->of(1)) == "io_error untouched");
  CHECK(fake.written() == 0);
  fake.write(2);
  CHECK(fateOf(fake.told->of(2)) == "peer_lost settled");
  CHECK(fake.written() == 10);
  fake.write(3);
  CHECK(fateOf(fake.told->of(3)) == "done");
  CHECK(fake.written() == 100);
  for (const uint64_t token : {4u, 5u}) {
    fake.write(token);
    CHECK(fateOf(fake.told->of(token)) == "timeout unsettled");
  }
  fake.write(6);
  CHECK(fateOf(fake.told->of(6)) == "resource_exhausted untouched");
  fake.script->usually(Script::complete());
  fake.write(7, 200);
  CHECK(fateOf(fake.told->of(7)) == "done");
  CHECK(fake.backend->traffic().written_bytes == 310);
  CHECK(fake.backend->traffic().served_written_bytes == 310);
  CHECK(fake.told->isOpen());
}

TEST_CASE("a held transfer holds up those behind it until it is released") {
  Scripted fake;
  fake.script->next(Script::hold(), 2);
  fake.write(1);
  fake.write(2);
  fake.write(3);
  REQUIRE(fake.script->waitSeen(3, kWatchdogNs));
  REQUIRE(fake.script->waitHeld(1, kWatchdogNs));
  CHECK(fake.told->count() == 0);
  CHECK(fake.written() == 0);
  fake.script->release(1);
  CHECK(fateOf(fake.told->of(1)) == "done");
  REQUIRE(fake.script->waitHeld(1, kWatchdogNs));
  CHECK(fake.told->count() == 1);
  fake.script->release();
  CHECK(fateOf(fake.told->of(2)) == "done");
  CHECK(fateOf(fake.told->of(3)) == "done");
}

TEST_CASE("a held transfer can be taken back, and so can those behind it") {
  Scripted fake;
  fake.script->next(Script::hold());
  for (const uint64_t token : {1u, 2u, 3u}) fake.write(token);
  REQUIRE(fake.script->waitHeld(1, kWatchdogNs));
  CHECK(fake.link->cancel(2));
  CHECK(fake.link->cancel(1));
  CHECK_FALSE(fake.link->cancel(1));
  CHECK_FALSE(fake.link->cancel(99));
  CHECK(fateOf(fake.told->of(1)) == "canceled untouched");
  CHECK(fateOf(fake.told->of(2)) == "canceled untouched");
  CHECK(fateOf(fake.told->of(3)) == "done");
  CHECK(fake.told->isConsistent());
}

TEST_CASE("a link can be closed by the script, and while a transfer is held") {
  Scripted fake;
  fake.script->next(Script::closeLink(Reason::kPeerLost));
  fake.write(1);
  CHECK(fateOf(fake.told->of(1)) == "peer_lost untouched");
  CHECK(nameOf(fake.told->end().reason) == "peer_lost");
  fake.write(2);
  CHECK(fateOf(fake.told->of(2)) == "peer_lost untouched");

  const auto told = std::make_shared<Recorder>();
  fake.link = fake.connect(told);
  fake.script->next(Script::hold());
  fake.write(3);
  REQUIRE(fake.script->waitHeld(1, kWatchdogNs));
  fake.link->close(errorOf(Reason::kTimeout, {}));
  CHECK(fateOf(told->of(3)) == "timeout untouched");
  CHECK(nameOf(told->end().reason) == "timeout");
}

TEST_CASE("connections are refused while the script says so") {
  Scripted fake;
  fake.script->refuseConnections(true);
  const auto told = std::make_shared<Recorder>();
  const auto link = fake.connect(told);
  CHECK(nameOf(link->waitReady(kWatchdogNs).reason) == "peer_unreachable");
  CHECK(nameOf(told->end().reason) == "peer_unreachable");
  fake.script->refuseConnections(false);
  const auto again_told = std::make_shared<Recorder>();
  CHECK_FALSE(fake.connect(again_told)->waitReady(kWatchdogNs));
}

TEST_CASE("what was submitted is seen in its order, over all links") {
  Scripted fake;
  const auto told = std::make_shared<Recorder>();
  const auto other = fake.connect(told);
  fake.write(1);
  const Transfer read{Direction::kRead, fake.local.data(), 5, fake.region.base + 3, &fake.region, 2};
  other->submit({&read, 1});
  fake.write(3);
  const std::vector<Script::Seen> seen = fake.script->seen();
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].token == 1);
  CHECK(seen[1].token == 2);
  CHECK(seen[1].direction == Direction::kRead);
  CHECK(seen[1].remote_address == fake.region.base + 3);
  CHECK(seen[1].length == 5);
  CHECK(seen[2].token == 3);
  CHECK_FALSE(fake.script->waitSeen(4, 0));
}

}  // namespace
}  // namespace tent
