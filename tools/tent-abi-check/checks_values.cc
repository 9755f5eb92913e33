// The values of a request: flags, reserved fields, and the error that each wrong one has.
#include <array>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tent-abi-check/trial.h"

namespace tent::tool {
namespace {

std::string requiredFlags(const Api& api) {
  Trial trial(api);
  for (int bit = 0; bit < 32; ++bit) {
    tent_request_v1_t request = trial.request();
    request.flags = uint64_t{1} << bit;
    requireRefused(api, trial.submit(request), {TENT_ERROR_INVALID_FLAGS, TENT_REASON_UNKNOWN_FLAGS, TENT_FIELD_FLAGS},
                   fmt::format("flag bit {}", bit));
  }
  trial.requireUntouched("required flags that are not known");
  return "bits 0 to 31 are refused, each";
}

std::string advisoryFlags(const Api& api) {
  Trial trial(api);
  for (int bit = 32; bit < 64; ++bit) {
    tent_request_v1_t request = trial.request();
    request.flags = uint64_t{1} << bit;
    requireAccepted(api, trial.submit(request), fmt::format("flag bit {}", bit));
  }
  require(trial.finish() == STATUS_COMPLETED, "a request with an advisory flag did not complete");
  return "bits 32 to 63 are accepted, each";
}

std::string reservedFields(const Api& api) {
  Trial trial(api);
  tent_request_v1_t request = trial.request();
  request.reserved_opcode = 1;
  requireRefused(api, trial.submit(request),
                 {TENT_ERROR_INVALID_FLAGS, TENT_REASON_RESERVED_NONZERO, TENT_FIELD_RESERVED_OPCODE},
                 "reserved_opcode that is not 0");
  request = trial.request();
  request.reserved0 = 1;
  requireRefused(api, trial.submit(request),
                 {TENT_ERROR_INVALID_FLAGS, TENT_REASON_RESERVED_NONZERO, TENT_FIELD_RESERVED0},
                 "reserved0 that is not 0");
  return "both must be 0";
}

struct WrongValue {
  const char* what = "";
  void (*spoil)(tent_request_v1_t& request) = nullptr;
  Refusal expected;
};

const std::string& longName() {
  static const std::string kName(128, 'p');
  return kName;
}

constexpr std::array<WrongValue, 18> kWrongValues{{
    {"opcode 7",
     [](auto& r) { r.opcode = 7; },
     {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_OPCODE, TENT_FIELD_OPCODE}},
    {"source NULL",
     [](auto& r) { r.source = nullptr; },
     {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_NULL_SOURCE, TENT_FIELD_SOURCE}},
    {"length 0",
     [](auto& r) { r.length = 0; },
     {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_ZERO_LENGTH, TENT_FIELD_LENGTH}},
    {"intent_type 7",
     [](auto& r) { r.intent_type = 7; },
     {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_INTENT_TYPE, TENT_FIELD_INTENT_TYPE}},
    {"intent_type -1",
     [](auto& r) { r.intent_type = -1; },
     {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_INTENT_TYPE, TENT_FIELD_INTENT_TYPE}},
    {"intent_type staging_internal",
     [](auto& r) { r.intent_type = TENT_INTENT_STAGING_INTERNAL; },
     {TENT_ERROR_UNAUTHORIZED_INTENT, TENT_REASON_STAGING_INTERNAL_RESERVED, TENT_FIELD_INTENT_TYPE}},
    {"requested_priority 4",
     [](auto& r) { r.requested_priority = 4; },
     {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_PRIORITY, TENT_FIELD_REQUESTED_PRIORITY}},
    {"deadline_ns of a wall clock",
     [](auto& r) { r.deadline_ns = 1'800'000'000'000'000'000u; },
     {TENT_ERROR_DEADLINE, TENT_REASON_DEADLINE_OUT_OF_RANGE, TENT_FIELD_DEADLINE_NS}},
    {"policy_name \"\"",
     [](auto& r) { r.policy_name = ""; },
     {TENT_ERROR_INVALID_POLICY, TENT_REASON_POLICY_EMPTY, TENT_FIELD_POLICY_NAME}},
    {"policy_name of 128 bytes",
     [](auto& r) { r.policy_name = longName().c_str(); },
     {TENT_ERROR_INVALID_POLICY, TENT_REASON_POLICY_TOO_LONG, TENT_FIELD_POLICY_NAME}},
    {"policy_name \"a b\"",
     [](auto& r) { r.policy_name = "a b"; },
     {TENT_ERROR_INVALID_POLICY, TENT_REASON_POLICY_BAD_CHARACTER, TENT_FIELD_POLICY_NAME}},
    {"policy_name that none has",
     [](auto& r) { r.policy_name = "no-such-policy"; },
     {TENT_ERROR_INVALID_POLICY, TENT_REASON_POLICY_UNKNOWN, TENT_FIELD_POLICY_NAME}},
    {"transport_hint 99",
     [](auto& r) { r.transport_hint = 99; },
     {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_TRANSPORT, TENT_FIELD_TRANSPORT_HINT}},
    {"target_id that none has",
     [](auto& r) { r.target_id = 0x7777; },
     {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_UNKNOWN_SEGMENT, TENT_FIELD_TARGET_ID}},
    {"target_offset outside every buffer",
     [](auto& r) { r.target_offset = 4096; },
     {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_OUT_OF_RANGE, -1}},
    {"a flag and an opcode, the flag first",
     [](auto& r) { r.flags = 1, r.opcode = 7; },
     {TENT_ERROR_INVALID_FLAGS, TENT_REASON_UNKNOWN_FLAGS, TENT_FIELD_FLAGS}},
    {"an opcode and an intent_type, the opcode first",
     [](auto& r) { r.opcode = 7, r.intent_type = 99; },
     {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_OPCODE, TENT_FIELD_OPCODE}},
    {"a hint and a target_id, the hint first",
     [](auto& r) { r.transport_hint = 99, r.target_id = 0x7777; },
     {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_TRANSPORT, TENT_FIELD_TRANSPORT_HINT}},
}};

std::string errorCodes(const Api& api) {
  Trial trial(api);
  for (const WrongValue& wrong : kWrongValues) {
    tent_request_v1_t request = trial.request();
    wrong.spoil(request);
    requireRefused(api, trial.submit(request), wrong.expected, wrong.what);
  }
  trial.requireUntouched("requests with wrong values");
  return fmt::format("{} wrong values, each with its code, reason and field", kWrongValues.size());
}

std::string intentsAccepted(const Api& api) {
  Trial trial(api);
  for (int32_t intent = TENT_INTENT_UNSPEC; intent <= TENT_INTENT_WEIGHT_LOADING; ++intent) {
    for (int32_t priority = TENT_PRIORITY_UNSPEC; priority <= TENT_PRIORITY_LOW; ++priority) {
      tent_request_v1_t request = trial.request();
      request.intent_type = intent;
      request.requested_priority = priority;
      requireAccepted(api, trial.submit(request),
                      fmt::format("intent_type {}, requested_priority {}", intent, priority));
    }
  }
  require(trial.finish() == STATUS_COMPLETED && trial.arrived(0, 64), "an accepted request did not complete");
  return "each intent with each priority";
}

std::string deadlines(const Api& api) {
  const uint64_t before = api.tent_monotonic_now_ns();
  uint64_t deadline = 0;
  requireAccepted(api, api.tent_deadline_after_ns(0, &deadline), "a budget of 0");
  require(deadline >= before && deadline <= api.tent_monotonic_now_ns(), "a budget of 0 does not end now");
  deadline = 17;
  requireRefused(api, api.tent_deadline_after_ns(std::numeric_limits<uint64_t>::max(), &deadline),
                 {TENT_ERROR_DEADLINE, TENT_REASON_DEADLINE_OVERFLOW}, "a budget that overflows");
  requireRefused(api, api.tent_deadline_after_ns(2'592'000'000'000'001u, &deadline),
                 {TENT_ERROR_DEADLINE, TENT_REASON_DEADLINE_OUT_OF_RANGE}, "a budget over 30 days");
  require(deadline == 17, "a refused budget wrote its output");
  Trial trial(api);
  tent_request_v1_t request = trial.request();
  requireAccepted(api, api.tent_deadline_after_ns(60'000'000'000, &request.deadline_ns), "a budget of a minute");
  requireAccepted(api, trial.submit(request), "a request with a deadline");
  request.deadline_ns = 1;
  requireAccepted(api, trial.submit(request), "a request whose deadline has passed");
  return "0 is now, overflow and 30 days are told apart, and a passed deadline is kept";
}

constexpr std::array<BehaviourCheck, 6> kValueChecks{{
    {"flags.required", Needs::kV1, requiredFlags},
    {"flags.advisory", Needs::kV1, advisoryFlags},
    {"reserved", Needs::kV1, reservedFields},
    {"errors.codes", Needs::kV1, errorCodes},
    {"values.accepted", Needs::kV1, intentsAccepted},
    {"deadlines", Needs::kV1, deadlines},
}};

}  // namespace

std::span<const BehaviourCheck> valueChecks() {
  return kValueChecks;
}

}  // namespace tent::tool
