#include "report/expectation.h"

#include <algorithm>
#include <string_view>

namespace tent {
namespace {

std::string textOf(const JsonValue& value) {
  std::string text;
  JsonWriter json(text);
  writeJson(json, value);
  return text;
}

// The value of a number in whichever of the three kinds it was written.
double numberOf(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kInteger) return static_cast<double>(value.integer);
  return value.kind == JsonValue::Kind::kUnsigned ? static_cast<double>(value.unsigned_integer) : value.number;
}

bool isNumber(const JsonValue& value) {
  return value.kind == JsonValue::Kind::kInteger || value.kind == JsonValue::Kind::kUnsigned ||
         value.kind == JsonValue::Kind::kDouble;
}

bool sameScalar(const JsonValue& a, const JsonValue& b) {
  // 4096.0 is the integer 4096; two integers are compared with all their bits below.
  const bool fraction = a.kind == JsonValue::Kind::kDouble || b.kind == JsonValue::Kind::kDouble;
  if (fraction && isNumber(a) && isNumber(b)) return numberOf(a) == numberOf(b);
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case JsonValue::Kind::kNull: return true;
    case JsonValue::Kind::kBool: return a.boolean == b.boolean;
    case JsonValue::Kind::kInteger: return a.integer == b.integer;
    case JsonValue::Kind::kUnsigned: return a.unsigned_integer == b.unsigned_integer;
    case JsonValue::Kind::kString: return a.string == b.string;
    case JsonValue::Kind::kDouble:
    case JsonValue::Kind::kArray:
    case JsonValue::Kind::kObject: return false;
  }
  return false;
}

class Matcher {
 public:
  std::vector<Difference> differences;

  void match(const std::string& pointer, const JsonValue& expect, const JsonValue& actual, bool as_set = false) {
    if (expect.kind == JsonValue::Kind::kObject && actual.kind == JsonValue::Kind::kObject) {
      for (const auto& member : expect.members) matchMember(pointer, member.key, member.value, actual);
    } else if (expect.kind == JsonValue::Kind::kArray && actual.kind == JsonValue::Kind::kArray) {
      matchArray(pointer, expect, actual, as_set);
    } else if (!sameScalar(expect, actual)) {
      report(pointer, textOf(expect), textOf(actual));
    }
  }

  void matchMember(const std::string& pointer, std::string_view key, const JsonValue& expect, const JsonValue& actual) {
    const JsonValue* value = actual.find(key);
    const std::string place = pointerTo(pointer, key);
    if (value == nullptr) {
      report(place, textOf(expect), "");
    } else {
      match(place, expect, *value, key == "downgrades" || key == "rejected");
    }
  }

  void report(std::string pointer, std::string expected, std::string actual) {
    differences.push_back({std::move(pointer), std::move(expected), std::move(actual)});
  }

 private:
  void matchArray(const std::string& pointer, const JsonValue& expect, const JsonValue& actual, bool as_set) {
    const bool same_size = expect.items.size() == actual.items.size();
    if (!same_size || (as_set && !matchesAsSet(expect.items, actual.items))) {
      report(pointer, textOf(expect), textOf(actual));
    } else if (!as_set) {
      for (size_t i = 0; i < expect.items.size(); ++i) match(pointerTo(pointer, i), expect.items[i], actual.items[i]);
    }
  }

  // A partial object may fit several, so the pairing is searched for: Kuhn's augmenting paths.
  static bool matchesAsSet(const std::vector<JsonValue>& expects, const std::vector<JsonValue>& actuals) {
    std::vector<size_t> owner(actuals.size(), expects.size());
    for (size_t i = 0; i < expects.size(); ++i) {
      std::vector<bool> visited(actuals.size(), false);
      if (!assign(i, expects, actuals, owner, visited)) return false;
    }
    return true;
  }

  static bool assign(size_t expect, const std::vector<JsonValue>& expects, const std::vector<JsonValue>& actuals,
                     std::vector<size_t>& owner, std::vector<bool>& visited) {
    for (size_t j = 0; j < actuals.size(); ++j) {
      if (visited[j] || !fits(expects[expect], actuals[j])) continue;
      visited[j] = true;
      if (owner[j] == expects.size() || assign(owner[j], expects, actuals, owner, visited)) {
        owner[j] = expect;
        return true;
      }
    }
    return false;
  }

  static bool fits(const JsonValue& expect, const JsonValue& actual) {
    Matcher matcher;
    matcher.match("", expect, actual);
    return matcher.differences.empty();
  }
};

}  // namespace

std::vector<Difference> unmetExpectations(const JsonValue& expect, const JsonValue& result) {
  Matcher matcher;
  if (expect.find("status") == nullptr) {
    JsonValue ok;
    ok.kind = JsonValue::Kind::kString;
    ok.string = "ok";
    matcher.matchMember("", "status", ok, result);
  }
  const JsonValue* error = result.find("error");
  for (const auto& member : expect.members) {
    const bool short_form = member.key == "reason" || member.key == "field";
    if (short_form && error != nullptr && error->kind == JsonValue::Kind::kObject) {
      matcher.matchMember("/error", member.key, member.value, *error);
    } else if (!short_form) {
      matcher.matchMember("", member.key, member.value, result);
    } else if (member.value.kind != JsonValue::Kind::kNull) {
      matcher.report(pointerTo("/error", member.key), textOf(member.value), "null");
    }
  }
  return std::move(matcher.differences);
}

std::vector<Difference> differencesOf(const JsonValue& before, const JsonValue& after) {
  std::vector<Difference> differences;
  // Result objects nest a few levels; the reader bounds every text to 64.
  const auto compare = [&](const auto& self, const std::string& pointer, const JsonValue& a,
                           const JsonValue& b) -> void {
    if (a.kind != JsonValue::Kind::kObject || b.kind != JsonValue::Kind::kObject) {
      std::string before_text = textOf(a);
      std::string after_text = textOf(b);
      if (before_text != after_text) differences.push_back({pointer, std::move(before_text), std::move(after_text)});
      return;
    }
    for (const auto& member : a.members) {
      const JsonValue* other = b.find(member.key);
      const std::string place = pointerTo(pointer, member.key);
      other != nullptr ? self(self, place, member.value, *other)
                       : static_cast<void>(differences.push_back({place, textOf(member.value), ""}));
    }
    for (const auto& member : b.members) {
      if (a.find(member.key) == nullptr) {
        differences.push_back({pointerTo(pointer, member.key), "", textOf(member.value)});
      }
    }
  };
  compare(compare, "", before, after);
  return differences;
}

void writeJson(JsonWriter& json, const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull: return json.null();
    case JsonValue::Kind::kBool: return json.boolean(value.boolean);
    case JsonValue::Kind::kInteger: return json.integer(value.integer);
    case JsonValue::Kind::kUnsigned: return json.unsignedInteger(value.unsigned_integer);
    case JsonValue::Kind::kDouble: return json.number(value.number);
    case JsonValue::Kind::kString: return json.string(value.string);
    case JsonValue::Kind::kArray:
      json.beginArray();
      for (const JsonValue& item : value.items) writeJson(json, item);
      return json.endArray();
    case JsonValue::Kind::kObject:
      json.beginObject();
      for (const auto& member : value.members) {
        json.key(member.key);
        writeJson(json, member.value);
      }
      return json.endObject();
  }
}

}  // namespace tent
