#include "tent-explain/sink.h"

#include "common/build_info.h"
#include "report/result_json.h"

namespace tent {

void beginJsonFile(JsonWriter& json, std::string_view list) {
  json.beginObject();
  json.key("schema_version"), json.integer(1);
  json.field("tool", "tent-explain");
  json.field("version", kVersion);
  json.key(list);
  json.beginArray();
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
    json.breakLine();
    json.endArray();
    json.breakLine();
    json.key("summary");
    json.beginObject();
    for (const Count& count : counts) json.field(count.name, uint64_t{count.number});
    if (!by_status.empty()) {
      json.key("by_status");
      json.beginObject();
      for (const Count& count : by_status) json.field(count.name, uint64_t{count.number});
      json.endObject();
    }
    json.field("faults", uint64_t{run.faults});
    json.key("interrupted"), json.boolean(run.interrupted);
    json.endObject();
    json.breakLine();
    json.endObject();
    out += '\n';
  }
}

std::string resultText(const Result& result, const Redactor& redactor) {
  std::string text;
  JsonWriter json(text);
  writeResult(json, result, redactor);
  return text;
}

}  // namespace tent
