#include "config/expect_reader.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace tent {
namespace {

// What stands at a key of the result object: a single value, an object or a list of objects with known keys, or what is
// not looked into.
enum class Shape : uint8_t { kValue, kList, kObject, kObjects, kOpen };

struct Key {
  std::string_view name;
  Shape shape = Shape::kValue;
  std::span<const Key> below = {};
};

constexpr std::array kDeadline{Key{"state"}, Key{"deadline_ns"}, Key{"remaining_ns"}};
constexpr std::array kRequested{
    Key{"surface"},     Key{"schema_version"},
    Key{"opcode"},      Key{"length"},
    Key{"intent_type"}, Key{"requested_priority"},
    Key{"policy_name"}, Key{"transport_hint"},
    Key{"flags"},       Key{"deadline", Shape::kObject, kDeadline},
};
constexpr std::array kDowngrade{Key{"field"}, Key{"from"}, Key{"to"}, Key{"reason"}};
constexpr std::array kEffective{
    Key{"tenant"},
    Key{"intent_type"},
    Key{"priority"},
    Key{"matched_policy"},
    Key{"transport_policy"},
    Key{"authorized_transports", Shape::kList},
    Key{"qp_pool"},
    Key{"service_level"},
    Key{"traffic_class"},
    Key{"devices", Shape::kList},
    Key{"max_inflight_bytes"},
    Key{"max_inflight_requests"},
    Key{"degraded_actions", Shape::kList},
    Key{"admission"},
};
constexpr std::array kStage{
    Key{"type"},          Key{"backend"},       Key{"local_device"}, Key{"remote_device"}, Key{"qp_pool"},
    Key{"service_level"}, Key{"traffic_class"}, Key{"bytes"},        Key{"slice_bytes"},   Key{"slices"},
};
constexpr std::array kRejected{Key{"backend"}, Key{"reason"}, Key{"message"}};
constexpr std::array kPlan{
    Key{"schema_version"},
    Key{"path_kind"},
    Key{"role"},
    Key{"transport_policy"},
    Key{"stages", Shape::kObjects, kStage},
    Key{"fallbacks", Shape::kList},
    Key{"rejected", Shape::kObjects, kRejected},
};
constexpr std::array kError{
    Key{"category"},
    Key{"code"},
    Key{"reason"},
    Key{"field"},
    Key{"value"},
    Key{"message"},
    Key{"rejected", Shape::kObjects, kRejected},
};
constexpr std::array kResult{
    Key{"name"},
    Key{"index"},
    Key{"status"},
    Key{"requested", Shape::kObject, kRequested},
    Key{"downgrades", Shape::kObjects, kDowngrade},
    Key{"effective", Shape::kObject, kEffective},
    Key{"plan", Shape::kObject, kPlan},
    Key{"error", Shape::kObject, kError},
    Key{"reason"},
    Key{"field"},
    Key{"execution", Shape::kOpen},
};

void checkObject(const JsonValue& value, const std::string& pointer, FaultList& faults, std::span<const Key> keys);

void mismatch(const JsonValue& value, const std::string& pointer, FaultList& faults, std::string_view expected) {
  faults.error(value.position, pointer, fmt::format("expected {}, found {}", expected, describe(value.kind)));
}

void checkSingle(const JsonValue& value, const std::string& pointer, FaultList& faults) {
  const bool single = value.kind != JsonValue::Kind::kArray && value.kind != JsonValue::Kind::kObject;
  if (!single) mismatch(value, pointer, faults, "a single value");
}

// null may stand anywhere: it matches null.
void checkValue(const JsonValue& value, const std::string& pointer, FaultList& faults, const Key& key) {
  if (value.kind == JsonValue::Kind::kNull || key.shape == Shape::kOpen) return;
  if (key.shape == Shape::kValue) return checkSingle(value, pointer, faults);
  if (key.shape == Shape::kObject) return checkObject(value, pointer, faults, key.below);
  if (value.kind != JsonValue::Kind::kArray) return mismatch(value, pointer, faults, "an array");
  for (size_t i = 0; i < value.items.size(); ++i) {
    const std::string place = pointerTo(pointer, i);
    key.shape == Shape::kObjects ? checkObject(value.items[i], place, faults, key.below)
                                 : checkSingle(value.items[i], place, faults);
  }
}

void checkObject(const JsonValue& value, const std::string& pointer, FaultList& faults, std::span<const Key> keys) {
  if (value.kind != JsonValue::Kind::kObject) return mismatch(value, pointer, faults, "an object");
  for (const JsonValue::Member& member : value.members) {
    const std::string place = pointerTo(pointer, member.key);
    const auto key = std::ranges::find(keys, member.key, &Key::name);
    if (key != keys.end()) {
      checkValue(member.value, place, faults, *key);
      continue;
    }
    std::vector<std::string_view> names;
    for (const Key& known : keys) names.push_back(known.name);
    faults.error(member.position, place, "a result has no key " + quoteWithSuggestion(member.key, names));
  }
}

std::vector<std::string_view> statusNames() {
  std::vector<std::string_view> names;
  for (int32_t code = codeOf(Category::kOk); code >= codeOf(Category::kUnauthorizedPriority); --code) {
    names.push_back(nameOf(static_cast<Category>(code)));
  }
  return names;
}

std::vector<std::string_view> reasonNames() {
  std::vector<std::string_view> names;
  for (int reason = 1; reason < kReasonCount; ++reason) names.push_back(nameOf(static_cast<Reason>(reason)));
  return names;
}

std::vector<std::string_view> fieldNames() {
  std::vector<std::string_view> names;
  for (int field = 1; field <= static_cast<int>(Field::kNotification); ++field) {
    names.push_back(nameOf(static_cast<Field>(field)));
  }
  return names;
}

void checkWord(const JsonValue& expect, std::string_view key, const std::string& pointer, FaultList& faults,
               std::span<const std::string_view> words) {
  const JsonValue* value = expect.find(key);
  if (!value || value->kind == JsonValue::Kind::kNull) return;
  const std::string place = pointerTo(pointer, key);
  if (value->kind != JsonValue::Kind::kString) return mismatch(*value, place, faults, "a string");
  if (std::ranges::find(words, value->string) != words.end()) return;
  faults.error(value->position, place, fmt::format("unknown {} {}", key, quoteWithSuggestion(value->string, words)));
}

}  // namespace

void checkExpectation(const JsonValue& expect, const std::string& pointer, FaultList& faults) {
  static const std::vector<std::string_view> kStatuses = statusNames();
  static const std::vector<std::string_view> kReasons = reasonNames();
  static const std::vector<std::string_view> kFields = fieldNames();
  checkObject(expect, pointer, faults, kResult);
  checkWord(expect, "status", pointer, faults, kStatuses);
  checkWord(expect, "reason", pointer, faults, kReasons);
  checkWord(expect, "field", pointer, faults, kFields);
}

}  // namespace tent
