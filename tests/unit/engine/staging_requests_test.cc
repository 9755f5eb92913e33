// What a target does with requests about its staging buffers that a well-behaved engine would not make.
#include <cstring>
#include <future>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "engine/address.h"
#include "engine/control_client.h"
#include "engine/staging_messages.h"
#include "transport/sockets.h"
#include "unit/engine/two_engines.h"

namespace tent {
namespace {

constexpr uint64_t kTimeoutNs = 10'000'000'000;

// Of an engine without a token.
std::unique_ptr<ControlClient> clientOf(Loop& loop, const Engine& engine) {
  const HostPort where = *parseAddress(engine.address());
  return std::make_unique<ControlClient>(loop, engine.address(), findEndpoints(where.host, where.port).value(),
                                         std::make_shared<const ControlSecurity>());
}

// A target with memory of three kinds, and control connections to it by hand.
struct StagingTarget {
  StagingTarget() {
    const auto allocate = [&](Permission permission) {
      return static_cast<std::byte*>(engine->allocateMemory(kBytes, {MemoryLocation{}, permission}).value());
    };
    writable = allocate(Permission::kGlobalReadWrite);
    readable = allocate(Permission::kGlobalReadOnly);
    own = allocate(Permission::kLocalReadWrite);
    fill(writable, kBytes, 1);
    fill(readable, kBytes, 2);
    fill(own, kBytes, 3);
  }
  std::unique_ptr<ControlClient> connect() { return clientOf(loop, *engine); }
  static Reason reasonOf(ControlClient& client, const Message& request) {
    const auto answer = client.ask(request, kTimeoutNs);
    return answer ? Reason::kNone : answer.error().reason;
  }
  static LentBuffers open(ControlClient& client) {
    const StageOpen wanted{4096, 2};
    return lentBuffersOf(client.ask(messageOf(wanted), kTimeoutNs).value(), wanted).value();
  }
  static uint64_t numberOf(const std::byte* memory) { return reinterpret_cast<uintptr_t>(memory); }

  static constexpr uint64_t kBytes = 65536;
  std::unique_ptr<Engine> engine = makeEngine(R"({"auth": {"mode": "none"}})");
  Loop loop{"test"};
  std::byte* writable = nullptr;
  std::byte* readable = nullptr;
  std::byte* own = nullptr;
};

}  // namespace

TEST_CASE("a staging copy is checked as any access is, and what is refused touches nothing") {
  StagingTarget target;
  const auto client = target.connect();
  const LentBuffers lent = StagingTarget::open(*client);
  CHECK(lent.count == 2);
  const uint64_t writable = StagingTarget::numberOf(target.writable);
  const StageCopy good{lent.lease, 0, writable, 4096, Direction::kWrite};
  const std::vector<std::byte> before(target.writable, target.writable + StagingTarget::kBytes);
  const auto with = [&](auto change) {
    StageCopy copy = good;
    change(copy);
    return StagingTarget::reasonOf(*client, messageOf(copy));
  };
  CHECK(with([](StageCopy& c) { c.offset = 8192; }) == Reason::kIoError);
  CHECK(with([](StageCopy& c) { c.offset = 4097, c.length = 4096; }) == Reason::kIoError);
  CHECK(with([](StageCopy& c) { c.offset = UINT64_MAX; }) == Reason::kIoError);
  CHECK(with([](StageCopy& c) { c.length = UINT64_MAX; }) == Reason::kIoError);
  CHECK(with([](StageCopy& c) { c.length = 0; }) == Reason::kIoError);
  CHECK(with([](StageCopy& c) { ++c.lease; }) == Reason::kPeerLost);
  CHECK(with([](StageCopy& c) { c.address -= 1; }) == Reason::kOutOfRange);
  CHECK(with([](StageCopy& c) { c.address += StagingTarget::kBytes - 4095; }) == Reason::kOutOfRange);
  CHECK(with([](StageCopy& c) { c.address = UINT64_MAX; }) == Reason::kOutOfRange);
  CHECK(with([&](StageCopy& c) { c.address = lent.buffer.memory.base; }) == Reason::kOutOfRange);
  CHECK(with([&](StageCopy& c) { c.address = StagingTarget::numberOf(target.readable); }) == Reason::kPermissionDenied);
  CHECK(with([&](StageCopy& c) { c.address = StagingTarget::numberOf(target.own); }) == Reason::kPermissionDenied);
  CHECK(with([&](StageCopy& c) {
          c.address = StagingTarget::numberOf(target.own);
          c.direction = Direction::kRead;
        }) == Reason::kPermissionDenied);
  CHECK(std::memcmp(before.data(), target.writable, before.size()) == 0);
  // Two chunks of zeros were lent.
  CHECK(with([](StageCopy& c) { c.offset = 4095, c.length = 4097; }) == Reason::kNone);
  const std::vector<std::byte> zeros(4097);
  CHECK(std::memcmp(zeros.data(), target.writable, zeros.size()) == 0);
  CHECK(std::memcmp(before.data() + zeros.size(), target.writable + zeros.size(), before.size() - zeros.size()) == 0);
}

TEST_CASE("a connection has one lease, which is nobody else's and ends when it is closed or another is asked for") {
  StagingTarget target;
  const auto client = target.connect();
  const auto other = target.connect();
  const LentBuffers first = StagingTarget::open(*client);
  const auto copyBy = [&](ControlClient& by, const LentBuffers& lent) {
    return StagingTarget::reasonOf(
        by, messageOf(StageCopy{lent.lease, 0, StagingTarget::numberOf(target.readable), 1, Direction::kRead}));
  };
  CHECK(copyBy(*client, first) == Reason::kNone);
  CHECK(copyBy(*other, first) == Reason::kPeerLost);
  CHECK(StagingTarget::reasonOf(*other, stageClose(first.lease)) == Reason::kNone);
  CHECK(copyBy(*client, first) == Reason::kNone);
  const LentBuffers second = StagingTarget::open(*client);
  CHECK(copyBy(*client, first) == Reason::kPeerLost);
  CHECK(copyBy(*client, second) == Reason::kNone);
  CHECK(StagingTarget::reasonOf(*client, stageClose(second.lease)) == Reason::kNone);
  CHECK(copyBy(*client, second) == Reason::kPeerLost);
}

TEST_CASE("requests that make no sense are refused, and the connection goes on") {
  StagingTarget target;
  const auto client = target.connect();
  for (const char* text :
       {R"({"type": "stage_"})", R"({"type": "stage_open"})", R"({"type": "stage_open", "chunk": 0, "wanted": 1})",
        R"({"type": "stage_open", "chunk": 1, "wanted": 0})", R"({"type": "stage_open", "chunk": -1, "wanted": 1})",
        R"({"type": "stage_open", "chunk": "4096", "wanted": 1})", R"({"type": "stage_copy", "lease": 1})",
        R"({"type": "stage_copy", "lease": 1, "offset": 0, "address": 1, "length": 1, "write": 1})"}) {
    CAPTURE(text);
    CHECK(StagingTarget::reasonOf(*client, parseMessage(text).value()) == Reason::kIoError);
  }
  CHECK(StagingTarget::open(*client).count == 2);
}

TEST_CASE("an answer about staging buffers that makes no sense is none") {
  const StageOpen wanted{4096, 2};
  LentBuffers lent;
  lent.count = 2;
  lent.buffer.memory = {1, 4096, 8192, Access::kReadWrite, true, ""};
  CHECK(lentBuffersOf(messageOf(lent), wanted));
  CHECK_FALSE(lentBuffersOf(messageOf(lent), StageOpen{4097, 2}));
  CHECK_FALSE(lentBuffersOf(messageOf(lent), StageOpen{4096, 1}));
  lent.count = 0;
  CHECK_FALSE(lentBuffersOf(messageOf(lent), wanted));
  CHECK_FALSE(lentBuffersOf(Message::object(), wanted));
  const StageCopy copy{1, 0, 0, 10, Direction::kRead};
  CHECK(wantedBackIn(stageCopied(10, true), copy).value());
  CHECK_FALSE(wantedBackIn(stageCopied(9, true), copy));
  CHECK_FALSE(wantedBackIn(Message::object(), copy));
}

TEST_CASE("an engine ends while checksums and staging copies are asked of it") {
  auto engine = makeEngine(R"({"auth": {"mode": "none"}})");
  constexpr uint64_t kBytes = 256u << 20;
  const auto base = reinterpret_cast<uintptr_t>(engine->allocateMemory(kBytes).value());
  Loop loop("test");
  const auto client = clientOf(loop, *engine);
  const Message described = client->ask({{"type", "describe"}}, kTimeoutNs).value();
  Message ranges = Message::array();
  for (int i = 0; i < 1000; ++i) ranges.push_back({base, kBytes});
  std::promise<void> ended;
  client->exchange({{"type", "checksums"}, {"ranges", ranges}}, kTimeoutNs,
                   [&](const tl::expected<Message, Error>& answer) {
                     CHECK_FALSE(answer);
                     ended.set_value();
                   });
  const auto other = clientOf(loop, *engine);
  REQUIRE(other->ask({{"type", "describe"}}, kTimeoutNs));  // its turn came: the checksums are being computed
  engine.reset();
  client->close();
  ended.get_future().wait();
}

}  // namespace tent
