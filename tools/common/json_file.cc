#include "common/json_file.h"

#include <cstdint>

#include "common/build_info.h"

namespace tent::tool {

void beginJsonFile(JsonWriter& json, std::string_view tool, std::string_view list) {
  json.beginObject();
  json.key("schema_version"), json.integer(1);
  json.field("tool", tool);
  json.field("version", kVersion);
  json.key(list);
  json.beginArray();
}

void endJsonFile(JsonWriter& json, std::span<const Count> counts, std::span<const Count> by_status, const RunEnd& run) {
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
  if (run.stopped) run.stopped->empty() ? json.nullField("stopped") : json.field("stopped", *run.stopped);
  json.endObject();
  json.breakLine();
  json.endObject();
}

}  // namespace tent::tool
