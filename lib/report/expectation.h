// Comparing result objects: with what a vector expects of its own, and with each other.
#pragma once

#include <string>
#include <vector>

#include "config/json_value.h"
#include "report/json_writer.h"

namespace tent {

// One place where two JSON values differ; each side is JSON text, "" where that side has nothing.
struct Difference {
  std::string pointer;
  std::string expected;
  std::string actual;
};

// Where `result` does not meet `expect`: objects are compared by the keys that `expect` names, recursively; arrays must
// be equal in length and order, except `downgrades` and `rejected`, which are sets of partial objects of the same
// number; null matches only null. An absent `status` means ok; `reason` and `field` stand for those of `error`. Empty:
// met.
std::vector<Difference> unmetExpectations(const JsonValue& expect, const JsonValue& result);

// All places where `before` and `after` differ; arrays of different content differ as a whole.
std::vector<Difference> differencesOf(const JsonValue& before, const JsonValue& after);

void writeJson(JsonWriter& json, const JsonValue& value);

}  // namespace tent
