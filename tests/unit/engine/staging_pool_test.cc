// Who is lent staging buffers, how many, and until when.
#include "engine/staging_pool.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kChunkBytes = 4096;

// A pool of eight chunks. Its members are used on the loop's thread, as the pool's are.
struct PoolFixture {
  static StagingLimits limits() {
    StagingLimits limits;
    limits.pool_bytes = 8 * kChunkBytes;
    return limits;
  }
  PoolFixture() = default;
  PoolFixture(const PoolFixture&) = delete;
  PoolFixture& operator=(const PoolFixture&) = delete;
  ~PoolFixture() { loop.stop(); }

  std::unique_ptr<StagingPool::Request> ask(uint64_t chunk_bytes, uint64_t wanted) {
    auto request = std::make_unique<StagingPool::Request>();
    request->wanted = {chunk_bytes, wanted};
    request->answered = [this] { ++answered; };
    loop.run([&] {
      pool.ask(*request);
      pool.serve(now_ns);
    });
    return request;
  }
  void serve() {
    loop.run([&] { pool.serve(now_ns); });
  }
  bool wantedBack(StagingPool::Request& request) {
    bool wanted = false;
    loop.run([&] { wanted = pool.wantedBack(*request.lease, now_ns); });
    return wanted;
  }
  void end(StagingPool::Request& request) {
    loop.run([&] { pool.end(*request.lease); });
  }
  // Until the request has been answered by the end of another's lease, which is freed in the background.
  void await(const StagingPool::Request& request) {
    bool done = false;
    while (!done) loop.run([&] { done = request.lease != nullptr || request.refused; });
  }

  Loop loop{"test"};
  LocalMemory memory{{}};
  StagingPool pool{loop, memory, limits()};
  uint64_t now_ns = kSecondNs;
  int answered = 0;
};

}  // namespace

TEST_CASE("one that comes alone gets half of the pool, so that a second one need not wait") {
  PoolFixture f;
  const auto first = f.ask(kChunkBytes, 100);
  REQUIRE(first->lease);
  CHECK(first->lease->lent.count == 4);
  CHECK(first->lease->lent.buffer.memory.length == 4 * kChunkBytes);
  const auto second = f.ask(kChunkBytes, 100);
  REQUIRE(second->lease);
  CHECK(second->lease->lent.count == 4);
  CHECK(second->lease->lent.buffer.memory.base != first->lease->lent.buffer.memory.base);
  CHECK_FALSE(f.wantedBack(*first));
  const auto modest = f.ask(kChunkBytes, 1);
  CHECK_FALSE(modest->lease);
  CHECK(f.answered == 2);
}

TEST_CASE("what is lent is served by nobody else, and is no part of the segment") {
  PoolFixture f;
  const auto request = f.ask(kChunkBytes, 1);
  REQUIRE(request->lease);
  CHECK(f.memory.info().empty());
  CHECK(f.memory.describe().empty());
  CHECK(f.memory.use(request->lease->lent.buffer.memory.base, 1, Access::kRead).error().reason == Reason::kOutOfRange);
}

TEST_CASE("who waits is served in the order of coming, and a small request does not overtake") {
  PoolFixture f;
  const auto first = f.ask(2 * kChunkBytes, 2);
  const auto second = f.ask(2 * kChunkBytes, 2);
  const auto large = f.ask(8 * kChunkBytes, 1);
  const auto small = f.ask(kChunkBytes, 1);
  CHECK_FALSE(large->lease);
  CHECK_FALSE(small->lease);
  f.end(*first);
  f.end(*second);
  f.await(*large);
  REQUIRE(large->lease);
  CHECK_FALSE(small->lease);
  f.end(*large);
  f.await(*small);
  CHECK(small->lease);
}

TEST_CASE("the one that had its lease longest is asked for it, after its turn, and loses it after a while") {
  PoolFixture f;
  const auto first = f.ask(kChunkBytes, 8);
  const auto second = f.ask(kChunkBytes, 8);
  auto third = f.ask(kChunkBytes, 8);
  CHECK_FALSE(f.wantedBack(*first));  // its turn is not over
  f.now_ns += f.pool.limits().times.turn_ns;
  CHECK(f.wantedBack(*first));
  CHECK_FALSE(f.wantedBack(*second));
  f.now_ns += f.pool.limits().times.patience_ns - 1;
  f.serve();
  CHECK_FALSE(first->lease->ended);
  f.now_ns += 1;
  f.serve();
  CHECK(first->lease->ended);
  f.await(*third);
  CHECK(third->lease);
  CHECK_FALSE(f.wantedBack(*second));
}

TEST_CASE("who was asked keeps its lease when nobody waits any more") {
  PoolFixture f;
  const auto first = f.ask(kChunkBytes, 8);
  const auto second = f.ask(kChunkBytes, 8);
  const auto third = f.ask(kChunkBytes, 8);
  f.now_ns += kSecondNs;
  CHECK(f.wantedBack(*first));
  f.loop.run([&] { f.pool.withdraw(*third); });
  CHECK_FALSE(f.wantedBack(*first));
  f.now_ns += 2 * f.pool.limits().times.patience_ns;
  const auto fourth = f.ask(kChunkBytes, 8);
  CHECK_FALSE(first->lease->ended);
  CHECK(f.wantedBack(*first));
}

TEST_CASE("a chunk that is larger than the pool is refused at once") {
  PoolFixture f;
  for (const uint64_t chunk_bytes : {8 * kChunkBytes + 1, UINT64_MAX}) {
    const auto request = f.ask(chunk_bytes, UINT64_MAX);
    CHECK(request->refused.reason == Reason::kResourceExhausted);
  }
  const auto fits = f.ask(8 * kChunkBytes, UINT64_MAX);
  REQUIRE(fits->lease);
  CHECK(fits->lease->lent.count == 1);
}

}  // namespace tent
