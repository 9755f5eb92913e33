#include "engine/transport_health.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

constexpr uint64_t kFirst = TransportHealth::kFirstPauseNs;

// One failure after the other; whether the last began a pause.
bool failTimes(TransportHealth& health, uint32_t times, uint64_t now_ns) {
  bool paused = false;
  for (uint32_t i = 0; i < times; ++i) paused = health.failed(health.incident(), now_ns);
  return paused;
}

}  // namespace

TEST_CASE("failures in a row pause, and the pause ends") {
  TransportHealth health;
  CHECK_FALSE(failTimes(health, TransportHealth::kFailuresToPause - 1, 10));
  CHECK_FALSE(health.isPaused(10));
  CHECK(failTimes(health, 1, 10));
  CHECK(health.isPaused(10));
  CHECK(health.isPaused(10 + kFirst - 1));
  CHECK_FALSE(health.isPaused(10 + kFirst));
}

TEST_CASE("a success in between begins the count anew") {
  TransportHealth health;
  failTimes(health, TransportHealth::kFailuresToPause - 1, 10);
  health.succeeded(health.incident());
  CHECK_FALSE(failTimes(health, TransportHealth::kFailuresToPause - 1, 10));
  CHECK(failTimes(health, 1, 10));
}

TEST_CASE("each pause is twice as long, up to a bound, until it works again") {
  TransportHealth health;
  uint64_t now_ns = 0;
  CHECK(failTimes(health, TransportHealth::kFailuresToPause, now_ns));
  for (uint64_t expected = 2 * kFirst; expected < TransportHealth::kLongestPauseNs; expected *= 2) {
    now_ns = health.pausedUntilNs();
    CHECK(failTimes(health, 1, now_ns));
    CHECK(health.pausedUntilNs() - now_ns == expected);
  }
  for (int i = 0; i < 3; ++i) {
    now_ns = health.pausedUntilNs();
    CHECK(failTimes(health, 1, now_ns));
    CHECK(health.pausedUntilNs() - now_ns == TransportHealth::kLongestPauseNs);
  }
  health.succeeded(health.incident());
  CHECK_FALSE(health.isPaused(now_ns));
  CHECK(failTimes(health, TransportHealth::kFailuresToPause, now_ns));
  CHECK(health.pausedUntilNs() - now_ns == kFirst);
}

TEST_CASE("what fails during a pause does not lengthen it; what works ends it") {
  TransportHealth health;
  CHECK(failTimes(health, TransportHealth::kFailuresToPause, 10));
  for (int i = 0; i < 100; ++i) CHECK_FALSE(failTimes(health, 1, 10 + kFirst / 2));
  CHECK_FALSE(health.isPaused(10 + kFirst));
  CHECK(failTimes(health, 1, 10 + kFirst));
  CHECK(health.pausedUntilNs() == 10 + kFirst + 2 * kFirst);
  health.succeeded(health.incident());
  CHECK_FALSE(health.isPaused(10 + kFirst));
}

TEST_CASE("what was under way when a failure was seen counts with it") {
  TransportHealth health;
  const uint32_t together = health.incident();
  for (int i = 0; i < 100; ++i) CHECK_FALSE(health.failed(together, 10));
  health.failed(health.incident(), 10);
  CHECK_FALSE(health.isPaused(10));
  health.succeeded(together);  // it had begun before the failures
  CHECK(failTimes(health, 1, 10));
}

}  // namespace tent
