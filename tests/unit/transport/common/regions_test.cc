#include "transport/regions.h"

#include <array>
#include <optional>
#include <thread>

#include <doctest/doctest.h>

namespace tent {
namespace {

constexpr uint64_t kWatchdogNs = 60'000'000'000;

// Two regions that touch, of 100 bytes each: the first read-only, the second not.
struct TwoRegions {
  TwoRegions() {
    table.add({1, memory.data(), 100, Access::kRead, nullptr});
    table.add({2, memory.data() + 100, 100, Access::kReadWrite, nullptr});
  }
  std::string_view reasonOf(int64_t offset, uint64_t length, Access access) {
    const auto use = table.use(base + static_cast<uint64_t>(offset), length, access);
    return use ? "" : nameOf(use.error().reason);
  }

  std::array<std::byte, 200> memory{};
  uint64_t base = reinterpret_cast<uintptr_t>(memory.data());
  RegionTable table;
};

TEST_CASE("a range is used if one region holds it whole") {
  TwoRegions regions;
  CHECK(regions.reasonOf(0, 100, Access::kRead) == "");
  CHECK(regions.reasonOf(99, 1, Access::kRead) == "");
  CHECK(regions.reasonOf(100, 100, Access::kReadWrite) == "");
  CHECK(regions.reasonOf(0, 101, Access::kRead) == "out_of_range");
  CHECK(regions.reasonOf(99, 2, Access::kRead) == "out_of_range");
  CHECK(regions.reasonOf(200, 1, Access::kRead) == "out_of_range");
  CHECK(regions.reasonOf(-1, 1, Access::kRead) == "out_of_range");
  CHECK(regions.reasonOf(-1, 2, Access::kRead) == "out_of_range");
  CHECK(regions.reasonOf(1, UINT64_MAX, Access::kRead) == "out_of_range");
  CHECK(regions.reasonOf(150, UINT64_MAX - regions.base, Access::kRead) == "out_of_range");
}

TEST_CASE("a region is used as far as its access allows") {
  TwoRegions regions;
  CHECK(regions.reasonOf(0, 1, Access::kReadWrite) == "permission_denied");
  CHECK(regions.reasonOf(100, 1, Access::kRead) == "");
  std::byte hidden{};
  regions.table.add({3, &hidden, 1, Access::kNone, nullptr});
  const auto use = regions.table.use(reinterpret_cast<uintptr_t>(&hidden), 1, Access::kRead);
  REQUIRE_FALSE(use);
  CHECK(use.error().detail == "the target keeps this memory to itself");
}

TEST_CASE("what was meant for a region that has gone does not reach another at its place") {
  TwoRegions regions;
  const uint64_t id = (uint64_t{7} << 32) + 2;
  CHECK(regions.table.use(regions.base + 100, 1, Access::kRead, 2));
  CHECK(regions.table.remove(2, kWatchdogNs));
  regions.table.add({id + 1, regions.memory.data() + 100, 100, Access::kReadWrite, nullptr});
  CHECK(regions.table.use(regions.base + 100, 1, Access::kRead, 2).error().reason == Reason::kOutOfRange);
  CHECK(regions.table.use(regions.base + 100, 1, Access::kRead, static_cast<uint32_t>(id + 1)));
  CHECK(regions.table.use(regions.base + 100, 1, Access::kRead));
}

TEST_CASE("a use learns that its region is being removed") {
  TwoRegions regions;
  const auto use = regions.table.use(regions.base, 1, Access::kRead);
  REQUIRE(use);
  CHECK_FALSE(use->withdrawn());
  CHECK_FALSE(regions.table.remove(1, 0));
  CHECK(use->withdrawn());
}

TEST_CASE("a region is used until it is removed") {
  TwoRegions regions;
  CHECK(regions.reasonOf(100, 1, Access::kRead) == "");
  CHECK(regions.table.remove(2, 0));
  CHECK(regions.reasonOf(100, 1, Access::kRead) == "out_of_range");
  CHECK(regions.reasonOf(0, 1, Access::kRead) == "");
  CHECK(regions.table.remove(2, 0));
}

TEST_CASE("removing waits for the uses that are going on, and lets none begin") {
  TwoRegions regions;
  auto first = regions.table.use(regions.base + 100, 10, Access::kRead);
  REQUIRE(first);
  std::optional<RegionTable::Use> use(std::move(*first));
  CHECK_FALSE(regions.table.remove(2, 1'000'000));
  CHECK(regions.reasonOf(100, 1, Access::kRead) == "out_of_range");

  regions.table.add({2, regions.memory.data() + 100, 100, Access::kReadWrite, nullptr});
  auto second = regions.table.use(regions.base + 100, 10, Access::kRead);
  REQUIRE(second);
  use.reset();
  use.emplace(std::move(*second));
  std::thread ender([&] { use.reset(); });
  CHECK(regions.table.remove(2, kWatchdogNs));
  ender.join();
}

}  // namespace
}  // namespace tent
