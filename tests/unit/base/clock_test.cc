#include "base/clock.h"

#include <cstdint>

#include <doctest/doctest.h>

namespace tent {

TEST_CASE("a time limit is kept as it is unless the clock cannot hold it") {
  using std::chrono::nanoseconds;
  CHECK(boundedWait(0) == nanoseconds(0));
  CHECK(boundedWait(60'000'000'000) == nanoseconds(60'000'000'000));
  const nanoseconds longest = boundedWait(UINT64_MAX);
  CHECK(longest == boundedWait(INT64_MAX));
  CHECK(longest > std::chrono::hours(24 * 365 * 99));
  CHECK(longest <= nanoseconds::max() - std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace tent
