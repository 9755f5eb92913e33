#include "config/fields.h"

#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"

namespace tent {
namespace {

using Kind = JsonValue::Kind;

// One bound is not worth a mention where it is that of the type.
template <typename Number>
std::string outOfRange(Number min, Number max, const std::string& found) {
  if (max == std::numeric_limits<Number>::max()) return fmt::format("must be at least {}, is {}", min, found);
  if (std::is_signed_v<Number> && min == std::numeric_limits<Number>::lowest()) {
    return fmt::format("must be at most {}, is {}", max, found);
  }
  return fmt::format("must be from {} to {}, is {}", min, max, found);
}

bool isInteger(const JsonValue& value) {
  return value.kind == Kind::kInteger || value.kind == Kind::kUnsigned;
}

std::string integerText(const JsonValue& value) {
  return value.kind == Kind::kInteger ? std::to_string(value.integer) : std::to_string(value.unsigned_integer);
}

std::vector<std::string_view> splitAtNul(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

ObjectReader::ObjectReader(const JsonValue& value, std::string pointer, FaultList& faults)
    : position_(value.position), pointer_(std::move(pointer)), faults_(faults) {
  if (value.kind == Kind::kObject) {
    object_ = &value;
    taken_.resize(value.members.size());
  } else {
    faults_.error(position_, pointer_, fmt::format("expected an object, found {}", describe(value.kind)));
  }
}

const JsonValue* ObjectReader::take(std::string_view key) {
  known_.append(key).push_back('\0');
  if (object_ == nullptr) return nullptr;
  for (size_t i = 0; i < object_->members.size(); ++i) {
    if (object_->members[i].key != key) continue;
    taken_[i] = true;
    return &object_->members[i].value;
  }
  return nullptr;
}

const JsonValue* ObjectReader::takeKind(std::string_view key, Kind kind) {
  const JsonValue* value = take(key);
  if (value == nullptr || value->kind == kind) return value;
  wrongKind(*value, key, describe(kind));
  return nullptr;
}

void ObjectReader::wrongKind(const JsonValue& value, std::string_view key, std::string_view expected) {
  faults_.error(value.position, pointerOf(key),
                value.kind == Kind::kNull ? "null is not allowed here"
                                          : fmt::format("expected {}, found {}", expected, describe(value.kind)));
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
  const JsonValue* value = takeKind(key, Kind::kBool);
  return value == nullptr ? std::nullopt : std::optional(value->boolean);
}

std::optional<std::string> ObjectReader::string(std::string_view key) {
  const JsonValue* value = takeKind(key, Kind::kString);
  return value == nullptr ? std::nullopt : std::optional(value->string);
}

std::optional<int64_t> ObjectReader::integer(std::string_view key, int64_t min, int64_t max) {
  const JsonValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (!isInteger(*value)) {
    wrongKind(*value, key, "an integer");
    return std::nullopt;
  }
  const bool negative = value->kind == Kind::kInteger;
  const bool fits = negative || std::in_range<int64_t>(value->unsigned_integer);
  const int64_t found = negative ? value->integer : static_cast<int64_t>(value->unsigned_integer);
  if (fits && found >= min && found <= max) return found;
  // At the top of the type "at least" would be no help to one who wrote more than that.
  faults_.error(value->position, pointerOf(key),
                fits ? outOfRange(min, max, integerText(*value))
                     : fmt::format("must be at most {}, is {}", max, integerText(*value)));
  return std::nullopt;
}

std::optional<uint64_t> ObjectReader::unsignedInteger(std::string_view key, uint64_t min, uint64_t max) {
  const JsonValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (!isInteger(*value)) {
    wrongKind(*value, key, "an integer");
    return std::nullopt;
  }
  if (value->kind == Kind::kUnsigned && value->unsigned_integer >= min && value->unsigned_integer <= max) {
    return value->unsigned_integer;
  }
  faults_.error(value->position, pointerOf(key), outOfRange(min, max, integerText(*value)));
  return std::nullopt;
}

std::optional<uint64_t> ObjectReader::size(std::string_view key) {
  const JsonValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Kind::kUnsigned) return value->unsigned_integer;
  if (value->kind == Kind::kInteger) {
    faults_.error(value->position, pointerOf(key), outOfRange<uint64_t>(0, UINT64_MAX, integerText(*value)));
  } else if (value->kind == Kind::kString) {
    auto bytes = parseSize(value->string);
    if (bytes) return *bytes;
    faults_.error(value->position, pointerOf(key), std::move(bytes.error()));
  } else {
    wrongKind(*value, key, "a size, such as 4096 or \"4KiB\"");
  }
  return std::nullopt;
}

std::optional<double> ObjectReader::number(std::string_view key, double min, double max) {
  const JsonValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  double found = value->number;
  if (value->kind == Kind::kInteger) {
    found = static_cast<double>(value->integer);
  } else if (value->kind == Kind::kUnsigned) {
    found = static_cast<double>(value->unsigned_integer);
  } else if (value->kind != Kind::kDouble) {
    wrongKind(*value, key, "a number");
    return std::nullopt;
  }
  if (found >= min && found <= max) return found;
  faults_.error(value->position, pointerOf(key),
                outOfRange(min, max, isInteger(*value) ? integerText(*value) : fmt::format("{}", found)));
  return std::nullopt;
}

std::optional<size_t> ObjectReader::oneOf(std::string_view key, std::span<const std::string_view> names) {
  const JsonValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  for (size_t i = 0; value->kind == Kind::kString && i < names.size(); ++i) {
    if (value->string == names[i]) return i;
  }
  std::string expected = names.size() == 1 ? "" : "one of ";
  for (size_t i = 0; i < names.size(); ++i) expected += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i]);
  if (value->kind == Kind::kString) {
    faults_.error(value->position, pointerOf(key),
                  fmt::format("expected {}; found {}", expected, quoteWithSuggestion(value->string, names)));
  } else {
    wrongKind(*value, key, expected);
  }
  return std::nullopt;
}

const std::vector<JsonValue>* ObjectReader::array(std::string_view key) {
  const JsonValue* value = takeKind(key, Kind::kArray);
  return value == nullptr ? nullptr : &value->items;
}

void ObjectReader::require(std::string_view key) {
  if (take(key) != nullptr || object_ == nullptr) return;
  faults_.error(position_, pointer_, fmt::format("\"{}\" is missing", key));
}

void ObjectReader::fault(std::string_view key, std::string message) {
  const JsonValue* value = object_ == nullptr ? nullptr : object_->find(key);
  faults_.error(value == nullptr ? position_ : value->position, value == nullptr ? pointer_ : pointerOf(key),
                std::move(message));
}

void ObjectReader::warn(std::string_view key, std::string message) {
  const JsonValue* value = object_ == nullptr ? nullptr : object_->find(key);
  faults_.warning(value == nullptr ? position_ : value->position, value == nullptr ? pointer_ : pointerOf(key),
                  std::move(message));
}

void ObjectReader::finish(UnknownKeys unknown) {
  if (object_ == nullptr || unknown == UnknownKeys::kIgnore) return;
  std::vector<std::string_view> known;
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i]) continue;
    if (known.empty()) known = splitAtNul(known_);
    const JsonValue::Member& member = object_->members[i];
    std::string message = fmt::format("unknown key {}", quoteWithSuggestion(member.key, known));
    if (unknown == UnknownKeys::kError) {
      faults_.error(member.position, pointerOf(member.key), std::move(message));
    } else {
      faults_.warning(member.position, pointerOf(member.key), std::move(message));
    }
  }
}

std::vector<std::string> ObjectReader::unknownKeys() const {
  std::vector<std::string> keys;
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (!taken_[i]) keys.push_back(object_->members[i].key);
  }
  return keys;
}

std::string ObjectReader::pointerOf(std::string_view key) const {
  return pointerTo(pointer_, key);
}

}  // namespace tent
