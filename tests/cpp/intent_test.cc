// What the C++ API says a request means, without an engine.
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "tent/engine.h"

namespace {

constexpr uint64_t kNow = 1'000'000'000;
constexpr auto kStrict = tent::ValidationMode::STRICT;
constexpr auto kCompat = tent::ValidationMode::COMPAT;

tent::Request goodRequest() {
  static char memory[64];
  tent::Request request;
  request.source = memory;
  request.length = sizeof memory;
  return request;
}

tent::NormalizedTransferIntent normalized(const tent::Request& request, tent::ValidationMode mode = kStrict) {
  tent::NormalizedTransferIntent intent;
  const tent::Status status = tent::normalizeTransferIntent(request, intent, mode, kNow);
  REQUIRE_MESSAGE(status.ok(), status.toString());
  return intent;
}

std::string refusalOf(const tent::Request& request, tent::ValidationMode mode = kStrict) {
  tent::NormalizedTransferIntent intent;
  intent.length = 12345;
  const tent::Status status = tent::normalizeTransferIntent(request, intent, mode, kNow);
  REQUIRE_FALSE(status.ok());
  CHECK(intent.length == 12345);  // untouched
  CHECK(status.index() == 0);
  CHECK(status.failing() == 1);
  CHECK(status.toString().find(status.message()) != std::string::npos);
  return std::string(status.codeName()) + "/" + status.reasonName() + " " + status.fieldName();
}

TEST_CASE("a request with every field is normalized field by field") {
  tent::Request request = goodRequest();
  request.opcode = tent::Request::WRITE;
  request.target_offset = 4096;
  request.intent_type = tent::IntentType::CHECKPOINT;
  request.requested_priority = tent::RequestedPriority::LOW;
  request.deadline_ns = kNow + 5;
  request.policy_name = "bulk.v1";
  request.transport_hint = tent::TCP;
  const tent::NormalizedTransferIntent intent = normalized(request);
  CHECK(intent.opcode == tent::Request::WRITE);
  CHECK(intent.target_offset == 4096);
  CHECK(intent.length == 64);
  CHECK(intent.intent_type == tent::IntentType::CHECKPOINT);
  CHECK(intent.requested_priority == tent::RequestedPriority::LOW);
  CHECK(intent.deadline_state == tent::NormalizedTransferIntent::DeadlineState::PENDING);
  CHECK(intent.deadline_ns == kNow + 5);
  CHECK(intent.remaining_ns == 5);
  CHECK(intent.policy_name == "bulk.v1");
  CHECK(intent.transport_hint == tent::TCP);
  CHECK(intent.downgrades.empty());
}

TEST_CASE("a priority is high by default, as deployed, and a requested one wins") {
  tent::Request request = goodRequest();
  CHECK(normalized(request).requested_priority == tent::RequestedPriority::HIGH);
  request.priority = tent::PRIO_MEDIUM;
  CHECK(normalized(request).requested_priority == tent::RequestedPriority::MEDIUM);
  request.priority = 77;
  CHECK(normalized(request).requested_priority == tent::RequestedPriority::LOW);
  request.requested_priority = tent::RequestedPriority::UNSPEC;
  CHECK(normalized(request).requested_priority == tent::RequestedPriority::UNSPEC);
}

TEST_CASE("a value that no name has is refused where it is checked, or told in compatibility mode") {
  tent::Request request = goodRequest();
  request.intent_type = static_cast<tent::IntentType>(99);
  CHECK(refusalOf(request) == "invalid_enum/unknown_intent_type intent_type");
  const tent::NormalizedTransferIntent intent = normalized(request, kCompat);
  CHECK(intent.intent_type == tent::IntentType::INTENT_UNSPEC);
  REQUIRE(intent.downgrades.size() == 1);
  CHECK(intent.downgrades[0].field == TENT_FIELD_INTENT_TYPE);
  CHECK(intent.downgrades[0].reason == TENT_DOWNGRADE_UNKNOWN_INTENT_TYPE);
  CHECK(intent.downgrades[0].from == 99);
  CHECK(intent.downgrades[0].to == TENT_INTENT_UNSPEC);

  request = goodRequest();
  request.requested_priority = static_cast<tent::RequestedPriority>(-1);
  CHECK(refusalOf(request) == "invalid_enum/unknown_priority requested_priority");
  CHECK(normalized(request, kCompat).downgrades.at(0).from == -1);
  request = goodRequest();
  request.transport_hint = static_cast<tent::TransportType>(13);
  CHECK(refusalOf(request, kCompat) == "invalid_enum/unknown_transport transport_hint");
  request = goodRequest();
  request.opcode = static_cast<tent::Request::OpCode>(7);
  CHECK(refusalOf(request, kCompat) == "invalid_enum/unknown_opcode opcode");
}

TEST_CASE("what a request lacks or must not have is named") {
  tent::Request request = goodRequest();
  request.source = nullptr;
  CHECK(refusalOf(request) == "invalid_argument/null_source source");
  request = goodRequest();
  request.length = 0;
  CHECK(refusalOf(request) == "invalid_argument/zero_length length");
  request = goodRequest();
  request.target_offset = std::numeric_limits<uint64_t>::max();
  CHECK(refusalOf(request) == "invalid_argument/range_overflow target_offset");
  request = goodRequest();
  request.intent_type = tent::IntentType::STAGING_INTERNAL;
  CHECK(refusalOf(request, kCompat) == "unauthorized_intent/staging_internal_reserved intent_type");
  request = goodRequest();
  request.flags = 1;
  CHECK(refusalOf(request) == "invalid_flags/unknown_flags flags");
  request.flags = uint64_t{1} << 40;
  CHECK(normalized(request).downgrades.at(0).reason == TENT_DOWNGRADE_FLAGS_IGNORED);
}

TEST_CASE("a policy name is taken whole: neither empty, nor cut at a NUL") {
  tent::Request request = goodRequest();
  CHECK_FALSE(normalized(request).policy_name.has_value());
  request.policy_name = "";
  CHECK(refusalOf(request) == "invalid_policy/policy_empty policy_name");
  request.policy_name = std::string("bulk\0", 5);
  CHECK(refusalOf(request) == "invalid_policy/policy_bad_character policy_name");
  tent::NormalizedTransferIntent untouched;
  CHECK(tent::normalizeTransferIntent(request, untouched).message().find("\"bulk\\x00\"") != std::string::npos);
  request.policy_name = std::string(128, 'a');
  CHECK(refusalOf(request) == "invalid_policy/policy_too_long policy_name");
  request.policy_name = std::string(127, 'a');
  CHECK(normalized(request).policy_name == std::string(127, 'a'));
}

TEST_CASE("deadlines are of this host's monotonic clock") {
  tent::Request request = goodRequest();
  request.deadline_ns = kNow;
  CHECK(normalized(request).deadline_state == tent::NormalizedTransferIntent::DeadlineState::EXPIRED);
  CHECK(normalized(request).remaining_ns == 0);
  request.deadline_ns = 1'700'000'000'000'000'000;  // a wall clock's
  CHECK(refusalOf(request) == "deadline_error/deadline_out_of_range deadline_ns");

  uint64_t deadline_ns = 0;
  const uint64_t before = tent_monotonic_now_ns();
  REQUIRE(tent::deadlineAfter(std::chrono::milliseconds(5), deadline_ns).ok());
  CHECK(deadline_ns >= before + 5'000'000);
  for (const std::chrono::nanoseconds wrong : {std::chrono::nanoseconds(-1), std::chrono::nanoseconds::max()}) {
    uint64_t untouched = 7;
    CHECK(tent::deadlineAfter(wrong, untouched).code() == tent::Status::Code::kDeadlineError);
    CHECK(untouched == 7);
  }
}

}  // namespace
