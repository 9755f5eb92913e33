#include "intent/normalize.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "unit/intent/now.h"

namespace tent {
namespace {

RequestFields goodFields() {
  RequestFields fields;
  fields.length = 4096;
  return fields;
}

Error normalize(const RequestFields& fields, RequestedIntent& out, ValidationMode mode = ValidationMode::kStrict) {
  return normalizeRequest(fields, mode, kNow, out);
}

Reason reasonOf(const RequestFields& fields, ValidationMode mode = ValidationMode::kStrict) {
  RequestedIntent out;
  return normalize(fields, out, mode).reason;
}

TEST_CASE("a zeroed request with a length asks for nothing") {
  RequestedIntent out;
  CHECK_FALSE(normalize(goodFields(), out));
  CHECK(out.normalized == Normalized::kAll);
  CHECK(out.opcode == Opcode::kRead);
  CHECK(out.intent_type == IntentType::kUnspec);
  CHECK(out.priority == RequestedPriority::kUnspec);
  CHECK(out.deadline.state == DeadlineState::kNone);
  CHECK(out.policy_name.empty());
  CHECK(out.transport_hint == Transport::kUnspec);
  CHECK(out.downgrades.empty());
}

// Each step spoils one field; with all spoilt from some step on, the failure must be that step's.
TEST_CASE("the first failure in the stated order is the error") {
  struct Step {
    std::function<void(RequestFields&)> spoil;
    Reason reason;
    Field field;
    Normalized reached;
  };
  const std::vector<Step> steps = {
      {[](RequestFields& f) { f.reserved_opcode = 1; }, Reason::kReservedNonzero, Field::kReservedOpcode,
       Normalized::kLayout},
      {[](RequestFields& f) { f.reserved0 = 1; }, Reason::kReservedNonzero, Field::kReserved0, Normalized::kLayout},
      {[](RequestFields& f) { f.flags = 0x8000'0000u; }, Reason::kUnknownFlags, Field::kFlags, Normalized::kLayout},
      {[](RequestFields& f) { f.opcode = 2; }, Reason::kUnknownOpcode, Field::kOpcode, Normalized::kFlags},
      {[](RequestFields& f) { f.has_source = false; }, Reason::kNullSource, Field::kSource, Normalized::kFlags},
      {[](RequestFields& f) { f.length = 0; }, Reason::kZeroLength, Field::kLength, Normalized::kFlags},
      {[](RequestFields& f) { f.intent_type = 7; }, Reason::kUnknownIntentType, Field::kIntentType,
       Normalized::kArguments},
      {[](RequestFields& f) { f.priority = 4; }, Reason::kUnknownPriority, Field::kRequestedPriority,
       Normalized::kIntentType},
      {[](RequestFields& f) { f.deadline.ns = UINT64_MAX; }, Reason::kDeadlineOutOfRange, Field::kDeadlineNs,
       Normalized::kPriority},
      {[](RequestFields& f) { f.policy_name = "a b"; }, Reason::kPolicyBadCharacter, Field::kPolicyName,
       Normalized::kDeadline},
      {[](RequestFields& f) { f.transport_hint = 13; }, Reason::kUnknownTransport, Field::kTransportHint,
       Normalized::kPolicyName},
  };
  for (size_t first = 0; first < steps.size(); ++first) {
    RequestFields fields = goodFields();
    for (size_t i = first; i < steps.size(); ++i) steps[i].spoil(fields);
    RequestedIntent out;
    const Error error = normalize(fields, out);
    CHECK(error.reason == steps[first].reason);
    CHECK(error.field == steps[first].field);
    CHECK(out.normalized == steps[first].reached);
  }
}

TEST_CASE("a range that wraps is refused, one that ends at the last address is not") {
  RequestFields fields = goodFields();
  fields.target_offset = UINT64_MAX - 4096;
  CHECK(reasonOf(fields) == Reason::kNone);
  fields.target_offset = UINT64_MAX - 4095;
  CHECK(reasonOf(fields) == Reason::kRangeOverflow);
}

TEST_CASE("compat maps unknown intent and priority to unspec and records each, but changes no transport") {
  RequestFields fields = goodFields();
  fields.intent_type = INT32_MIN;
  fields.priority = -1;
  RequestedIntent out;
  CHECK_FALSE(normalize(fields, out, ValidationMode::kCompat));
  CHECK(out.intent_type == IntentType::kUnspec);
  CHECK(out.priority == RequestedPriority::kUnspec);
  REQUIRE(out.downgrades.size() == 2);
  CHECK(out.downgrades.begin()[0].reason == DowngradeReason::kUnknownIntentType);
  CHECK(static_cast<int64_t>(out.downgrades.begin()[0].from) == INT32_MIN);
  CHECK(out.downgrades.begin()[1].reason == DowngradeReason::kUnknownPriority);
  fields.transport_hint = 99;
  CHECK(reasonOf(fields, ValidationMode::kCompat) == Reason::kUnknownTransport);
}

TEST_CASE("staging_internal is refused in both modes unless the caller is TENT itself") {
  RequestFields fields = goodFields();
  fields.intent_type = static_cast<int32_t>(IntentType::kStagingInternal);
  CHECK(reasonOf(fields) == Reason::kStagingInternalReserved);
  CHECK(reasonOf(fields, ValidationMode::kCompat) == Reason::kStagingInternalReserved);
  RequestedIntent out;
  CHECK_FALSE(normalizeRequest(fields, ValidationMode::kStrict, kNow, out, true));
}

TEST_CASE("advisory flags are ignored and recorded, any required bit is refused") {
  RequestFields fields = goodFields();
  fields.flags = 0xffff'ffff'0000'0000u;
  RequestedIntent out;
  CHECK_FALSE(normalize(fields, out));
  CHECK(out.flags == 0);
  REQUIRE(out.downgrades.size() == 1);
  CHECK(out.downgrades.begin()->reason == DowngradeReason::kFlagsIgnored);
  CHECK(out.downgrades.begin()->from == fields.flags);
  for (int bit = 0; bit < 32; ++bit) {
    fields.flags = uint64_t{1} << bit;
    CHECK(reasonOf(fields) == Reason::kUnknownFlags);
  }
}

TEST_CASE("a legacy request keeps its deployed meaning: 0 is high, strange priorities and hints are tolerated") {
  RequestFields fields = goodFields();
  fields.surface = Surface::kLegacy;
  fields.length = 0;
  fields.transport_hint = -5;
  RequestedIntent out;
  CHECK_FALSE(normalize(fields, out));
  CHECK(out.priority == RequestedPriority::kHigh);
  CHECK(out.transport_hint == Transport::kUnspec);
  fields.priority = 99;
  CHECK_FALSE(normalize(fields, out));
  CHECK(out.priority == RequestedPriority::kLow);
  CHECK(out.downgrades.empty());
  fields.opcode = 7;
  CHECK(normalize(fields, out).reason == Reason::kUnknownOpcode);
}

TEST_CASE("every surface but legacy is validated alike") {
  for (Surface surface : {Surface::kV1, Surface::kCpp, Surface::kPython}) {
    RequestFields fields = goodFields();
    fields.surface = surface;
    CHECK(reasonOf(fields) == Reason::kNone);
    fields.priority = 4;
    CHECK(reasonOf(fields) == Reason::kUnknownPriority);
    fields.priority = 0;
    fields.length = 0;
    CHECK(reasonOf(fields) == Reason::kZeroLength);
  }
}

TEST_CASE("every reason has a category, a name of its own and a message") {
  std::vector<std::string_view> names;
  for (int i = 1; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    CHECK(categoryOf(reason) != Category::kOk);
    CHECK_FALSE(nameOf(categoryOf(reason)).empty());
    CHECK(std::find(names.begin(), names.end(), nameOf(reason)) == names.end());
    names.push_back(nameOf(reason));
    const std::string message = messageOf({reason, Field::kNone, -1, uint64_t{42}, {}});
    CHECK(message.size() > 10);
    CHECK(message.find("{}") == std::string::npos);
  }
}

}  // namespace
}  // namespace tent
