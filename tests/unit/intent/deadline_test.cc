#include <doctest/doctest.h>

#include "intent/normalize.h"
#include "unit/intent/now.h"

namespace tent {
namespace {

RequestFields withDeadline(DeadlineInput::Kind kind, uint64_t ns) {
  RequestFields fields;
  fields.length = 1;
  fields.deadline = {kind, ns};
  return fields;
}

struct Outcome {
  Error error;
  Deadline deadline;
};

Outcome normalized(DeadlineInput::Kind kind, uint64_t ns, uint64_t now_ns = kNow) {
  RequestedIntent requested;
  Error error = normalizeRequest(withDeadline(kind, ns), ValidationMode::kStrict, now_ns, requested);
  return {error, requested.deadline};
}

Outcome absolute(uint64_t ns, uint64_t now_ns = kNow) {
  return normalized(DeadlineInput::Kind::kAbsolute, ns, now_ns);
}
Outcome budget(uint64_t ns, uint64_t now_ns = kNow) {
  return normalized(DeadlineInput::Kind::kBudget, ns, now_ns);
}

TEST_CASE("an absolute deadline of 0 means none") {
  CHECK(absolute(0).deadline.state == DeadlineState::kNone);
  CHECK(absolute(0).deadline.deadline_ns == 0);
}

TEST_CASE("a deadline in the past or equal to now is expired, kept and not extended") {
  for (uint64_t ns : {uint64_t{1}, kNow - 1, kNow}) {
    const Outcome outcome = absolute(ns);
    CHECK_FALSE(outcome.error);
    CHECK(outcome.deadline.state == DeadlineState::kExpired);
    CHECK(outcome.deadline.deadline_ns == ns);
    CHECK(outcome.deadline.remaining_ns == 0);
  }
}

TEST_CASE("a deadline up to 30 days ahead is pending, one nanosecond more is out of range") {
  const Outcome near = absolute(kNow + 1);
  CHECK(near.deadline.state == DeadlineState::kPending);
  CHECK(near.deadline.remaining_ns == 1);
  CHECK(absolute(kNow + kDeadlineHorizonNs).deadline.state == DeadlineState::kPending);
  CHECK(absolute(kNow + kDeadlineHorizonNs + 1).error.reason == Reason::kDeadlineOutOfRange);
}

TEST_CASE("a wall-clock time is out of range, and the message says what was probably passed") {
  const Outcome outcome = absolute(1'790'000'000'000'000'000);
  CHECK(outcome.error.reason == Reason::kDeadlineOutOfRange);
  CHECK(outcome.error.field == Field::kDeadlineNs);
  CHECK(messageOf(outcome.error).find("wall-clock") != std::string::npos);
}

TEST_CASE("no deadline over INT64_MAX is accepted, wherever now stands") {
  constexpr uint64_t kBeyond = uint64_t{1} << 63;
  for (uint64_t now_ns : {kNow, kBeyond - 10, kBeyond + 10, UINT64_MAX}) {
    CHECK(absolute(kBeyond, now_ns).error.reason == Reason::kDeadlineOutOfRange);
  }
  CHECK(absolute(kBeyond - 1, kBeyond - 10).deadline.state == DeadlineState::kPending);
}

TEST_CASE("a budget becomes now plus budget; 0 is expired, never none") {
  CHECK(budget(5).deadline.deadline_ns == kNow + 5);
  CHECK(budget(5).deadline.remaining_ns == 5);
  CHECK(budget(0).deadline.state == DeadlineState::kExpired);
  CHECK(budget(0).deadline.deadline_ns == kNow);
}

TEST_CASE("a budget's overflow is tested before its range") {
  CHECK(deadlineAfter(1, UINT64_MAX).error() == Reason::kDeadlineOverflow);
  CHECK(deadlineAfter(0, UINT64_MAX).error() == Reason::kDeadlineOutOfRange);
  CHECK(deadlineAfter(kNow, kDeadlineHorizonNs + 1).error() == Reason::kDeadlineOutOfRange);
  CHECK(deadlineAfter(kNow, kDeadlineHorizonNs).value() == kNow + kDeadlineHorizonNs);
  CHECK(budget(UINT64_MAX).error.reason == Reason::kDeadlineOverflow);
}

}  // namespace
}  // namespace tent
