// Prints the places where two results differ, as --check and --diff do.
#pragma once

#include <string_view>
#include <vector>

#include "report/expectation.h"
#include "tent-explain/sink.h"

namespace tent::tool {

// What the two sides of a difference are called.
struct SideNames {
  std::string_view text_before, text_after;  // "expected", "got"
  std::string_view json_before, json_after;  // keys
};

// One vector's differences: text lines "FILE:LINE: NAME: POINTER: expected X, got Y", or a JSON object. `values` false
// leaves the values out, for what redaction hides.
void printDifferences(const SinkContext& context, JsonWriter& json, const std::string& file, const Vector& vector,
                      const std::vector<Difference>& differences, const SideNames& names, bool values);

}  // namespace tent::tool
