#include "tent-explain/difference_list.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tent::tool {
namespace {

void writeSide(JsonWriter& json, std::string_view key, const std::string& side) {
  side.empty() ? json.nullField(key) : json.field(key, side);
}

void writeObject(JsonWriter& json, const std::string& file, const Vector& vector,
                 const std::vector<Difference>& differences, const SideNames& names, bool values) {
  json.beginObject();
  json.field("file", file);
  json.field("line", uint64_t{vector.position.line});
  json.field("name", vector.name);
  json.field("index", uint64_t{vector.index});
  json.key("differences");
  json.beginArray();
  for (const Difference& difference : differences) {
    json.beginObject();
    json.field("pointer", difference.pointer);
    if (values) {
      writeSide(json, names.json_before, difference.expected);
      writeSide(json, names.json_after, difference.actual);
    }
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

}  // namespace

void printDifferences(const SinkContext& context, JsonWriter& json, const std::string& file, const Vector& vector,
                      const std::vector<Difference>& differences, const SideNames& names, bool values) {
  std::string& out = context.output.buffer();
  if (context.options.format == OutputFormat::kJson) {
    json.breakLine();
    writeObject(json, file, vector, differences, names, values);
  } else if (context.options.format == OutputFormat::kNdjson) {
    JsonWriter line(out);
    writeObject(line, file, vector, differences, names, values);
    out += '\n';
  } else {
    const auto shown = [](const std::string& side) { return side.empty() ? "nothing" : escapeForTerminal(side); };
    for (const Difference& difference : differences) {
      out += fmt::format("{}:{}: {}: {}", escapeForTerminal(file), vector.position.line, escapeForTerminal(vector.name),
                         escapeForTerminal(difference.pointer));
      if (values) {
        out += fmt::format(": {} {}, {} {}", names.text_before, shown(difference.expected), names.text_after,
                           shown(difference.actual));
      }
      out += '\n';
    }
  }
  context.output.flushIfLarge();
}

}  // namespace tent::tool
