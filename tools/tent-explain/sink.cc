#include "tent-explain/sink.h"

namespace tent::tool {

void beginJsonFile(JsonWriter& json, std::string_view list) {
  beginJsonFile(json, "tent-explain", list);
}

void endOutput(const SinkContext& context, JsonWriter& json, const std::string& headline, std::span<const Count> counts,
               std::span<const Count> by_status, const RunEnd& run) {
  std::string& out = context.output.buffer();
  if (context.options.format == OutputFormat::kText) {
    out += headline;
    if (run.faults > 0) out += "; faults in the input: " + std::to_string(run.faults);
    if (run.interrupted) out += "; interrupted before the end";
    out += '\n';
  } else if (context.options.format == OutputFormat::kJson) {
    endJsonFile(json, counts, by_status, run);
    out += '\n';
  }
}

}  // namespace tent::tool
