// The JSON document around what a tool answers about vectors: the same opening, and the same summary at its end.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "report/json_writer.h"

namespace tent::tool {

struct Count {
  std::string_view name;
  size_t number;
};

// How the run ended, beside what it counted.
struct RunEnd {
  size_t faults = 0;  // in the input
  bool interrupted = false;
  std::optional<std::string> stopped;  // of a tool that may stop early: why it did, "" it did not
};

// The start, up to the array named `list`.
void beginJsonFile(JsonWriter& json, std::string_view tool, std::string_view list);

// The end of that array, and `counts` as the summary; `by_status` within it where it is not empty.
void endJsonFile(JsonWriter& json, std::span<const Count> counts, std::span<const Count> by_status, const RunEnd& run);

}  // namespace tent::tool
