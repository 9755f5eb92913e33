#include "config/json_value.h"

#include <algorithm>

namespace tent {

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto member = std::find_if(members.begin(), members.end(), [&](const Member& m) { return m.key == key; });
  return member == members.end() ? nullptr : &member->value;
}

std::string_view describe(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull: return "null";
    case JsonValue::Kind::kBool: return "a boolean";
    case JsonValue::Kind::kInteger:
    case JsonValue::Kind::kUnsigned: return "an integer";
    case JsonValue::Kind::kDouble: return "a number with a fraction or exponent";
    case JsonValue::Kind::kString: return "a string";
    case JsonValue::Kind::kArray: return "an array";
    case JsonValue::Kind::kObject: return "an object";
  }
  return "a value";
}

std::string pointerTo(std::string_view parent, std::string_view key) {
  std::string pointer;
  pointer.reserve(parent.size() + 1 + key.size());
  pointer.append(parent).push_back('/');
  for (const char c : key) {
    if (c == '~') {
      pointer.append("~0");
    } else if (c == '/') {
      pointer.append("~1");
    } else {
      pointer.push_back(c);
    }
  }
  return pointer;
}

std::string pointerTo(std::string_view parent, size_t index) {
  return std::string(parent).append("/").append(std::to_string(index));
}

}  // namespace tent
