#include "config/request_reader.h"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "config/value_fields.h"

namespace tent {
namespace {

using Names = std::span<const std::string_view>;
using NumberOf = std::optional<int32_t> (*)(std::string_view);

template <typename Enum>
std::optional<int32_t> numberOfSpelling(std::string_view text) {
  const std::optional<Enum> value = valueOfSpelling<Enum>(text);
  if (!value) return std::nullopt;
  return static_cast<int32_t>(*value);
}

std::optional<int32_t> numberOfPriority(std::string_view text) {
  const std::optional<Priority> value = valueOfName<Priority>(text);
  if (!value) return std::nullopt;
  return static_cast<int32_t>(*value);
}

// A name, or any integer that the caller's int32 field can hold: what no value has is for validation to reject.
int32_t readEnum(ObjectReader& object, std::string_view key, NumberOf number_of, Names names) {
  const JsonValue* value = object.take(key);
  if (!value) return 0;
  switch (value->kind) {
    case JsonValue::Kind::kString: {
      const std::optional<int32_t> number = number_of(value->string);
      if (!number) object.fault(key, fmt::format("unknown {} {}", key, quoteWithSuggestion(value->string, names)));
      return number.value_or(0);
    }
    case JsonValue::Kind::kInteger:
    case JsonValue::Kind::kUnsigned: {
      const std::optional<int64_t> number =
          object.integer(key, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
      return static_cast<int32_t>(number.value_or(0));
    }
    default: object.fault(key, fmt::format("expected a name or an integer, found {}", describe(value->kind))); return 0;
  }
}

template <typename Enum>
int32_t readEnum(ObjectReader& object, std::string_view key) {
  return readEnum(object, key, numberOfSpelling<Enum>, namesOf<Enum>());
}

std::optional<uint64_t> readBudget(ObjectReader& object) {
  const std::optional<std::string> text = object.string("deadline_budget");
  if (!text) return std::nullopt;
  tl::expected<uint64_t, std::string> budget = parseDuration(*text);
  if (budget) return *budget;
  object.fault("deadline_budget", std::move(budget).error());
  return std::nullopt;
}

void readDeadline(ObjectReader& object, bool clock_pinned, DeadlineInput& deadline) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  const std::optional<uint64_t> budget = readBudget(object);
  const std::optional<uint64_t> budget_ns = object.unsignedInteger("deadline_budget_ns", 0, kMax);
  const std::optional<uint64_t> absolute = object.unsignedInteger("deadline_ns", 0, kMax);
  if (budget || budget_ns) deadline = {DeadlineInput::Kind::kBudget, budget ? *budget : *budget_ns};
  if (absolute) deadline = {DeadlineInput::Kind::kAbsolute, *absolute};

  std::string_view first;
  for (const std::string_view key : {"deadline_budget", "deadline_budget_ns", "deadline_ns"}) {
    if (!object.take(key)) continue;
    if (!first.empty()) object.fault(key, fmt::format("{} is given too; a request has one deadline", first));
    first = key;
  }
  if (object.take("deadline_ns") && !clock_pinned) {
    object.fault("deadline_ns",
                 "an absolute time in a file means nothing without a pinned clock: give deadline_budget, or pin the "
                 "clock with clock.now_ns or --now");
  }
}

void readPolicyName(ObjectReader& object, std::optional<std::string>& name) {
  const JsonValue* value = object.take("policy_name");
  if (value && value->kind != JsonValue::Kind::kNull) name = object.string("policy_name");
}

// The legacy structure has no room for an intent: a file that gives one expects what cannot be.
void readLegacyFields(ObjectReader& object, RequestFields& fields) {
  fields.priority = readEnum(object, "priority", numberOfPriority, namesOf<Priority>());
  for (const std::string_view key : {"intent_type", "requested_priority", "deadline_budget", "deadline_budget_ns",
                                     "deadline_ns", "policy_name", "flags"}) {
    const JsonValue* value = object.take(key);
    const bool absent = !value || (key == "policy_name" && value->kind == JsonValue::Kind::kNull);
    if (!absent) object.fault(key, fmt::format("a request of the legacy surface has no {}", key));
  }
}

void readIntentFields(ObjectReader& object, bool clock_pinned, Vector& out) {
  RequestFields& fields = out.fields;
  fields.intent_type = readEnum<IntentType>(object, "intent_type");
  fields.priority = readEnum<RequestedPriority>(object, "requested_priority");
  readDeadline(object, clock_pinned, fields.deadline);
  readPolicyName(object, out.policy_name);
  fields.flags = object.unsignedInteger("flags", 0, std::numeric_limits<uint64_t>::max()).value_or(0);
  if (object.take("priority")) {
    object.fault("priority", fmt::format("only the legacy surface has a priority; on {} it is requested_priority",
                                         nameOf(out.surface)));
  }
}

constexpr std::array kRegistrations{Registration::kApplication, Registration::kAllocated};

void readMemory(ObjectReader& object, MemoryLocation& memory, Registration& registration) {
  registration = readNamed(object, "registration", kRegistrations).value_or(registration);
  memory = readMemoryLocation(object, "memory").value_or(memory);
}

void readSource(const JsonValue& value, const std::string& pointer, FaultList& faults, Vector& out) {
  ObjectReader object(value, pointer, faults);
  readMemory(object, out.source_memory, out.source_registration);
  object.finish(UnknownKeys::kError);
}

void readTarget(const JsonValue& value, const std::string& pointer, FaultList& faults, Vector& out) {
  ObjectReader object(value, pointer, faults);
  out.target_segment = readNonEmptyString(object, "segment").value_or("");
  out.fields.target_offset = object.size("offset").value_or(0);
  readMemory(object, out.target_memory, out.target_registration);
  out.target_type = readNamed(object, "type", kSegmentTypes).value_or(SegmentType::kMemory);
  out.target_path = readNonEmptyString(object, "path").value_or("");
  if (out.target_type == SegmentType::kFile) {
    object.require("path");
  } else if (object.take("path")) {
    object.fault("path", "only a target of the type \"file\" has a path");
  }
  object.finish(UnknownKeys::kError);
}

}  // namespace

void readRequest(const JsonValue& value, const std::string& pointer, FaultList& faults, bool clock_pinned,
                 Vector& out) {
  ObjectReader object(value, pointer, faults);
  out.fields.surface = out.surface;
  out.fields.opcode = readEnum<Opcode>(object, "opcode");
  object.require("length");
  out.fields.length = object.size("length").value_or(0);
  out.fields.transport_hint = readEnum<Transport>(object, "transport_hint");
  if (const JsonValue* source = object.take("source")) readSource(*source, object.pointerOf("source"), faults, out);
  if (const JsonValue* target = object.take("target")) readTarget(*target, object.pointerOf("target"), faults, out);
  if (out.surface == Surface::kLegacy) {
    readLegacyFields(object, out.fields);
  } else {
    readIntentFields(object, clock_pinned, out);
  }
  object.finish(UnknownKeys::kError);
}

}  // namespace tent
