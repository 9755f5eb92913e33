// Descriptions as they are written.
#include "common/build_info.h"
#include "report/json_writer.h"
#include "tent-abi-check/description_json.h"
#include "tent-abi-check/description_whole.h"

namespace tent::tool {
namespace {

void orNull(JsonWriter& json, std::string_view key, const std::string& text) {
  text.empty() ? json.nullField(key) : json.field(key, text);
}

void writeType(JsonWriter& json, std::string_view key, const AbiType& type) {
  json.field(key, type.name);
  orNull(json, std::string(key) + "_resolved", type.resolved);
}

template <typename T, typename Write>
void writeList(JsonWriter& json, std::string_view key, const std::vector<T>& all, Write write) {
  json.breakLine();
  json.key(key);
  json.beginArray();
  for (const T& one : all) {
    json.breakLine();
    json.beginObject();
    write(one);
    json.endObject();
  }
  json.endArray();
}

void writeFunction(JsonWriter& json, const AbiFunction& function) {
  json.field("name", function.name);
  json.key("inline"), json.boolean(function.is_inline);
  orNull(json, "declared", function.declared);
  writeType(json, "returns", function.result);
  json.key("parameters");
  json.beginArray();
  for (const AbiType& parameter : function.parameters) {
    json.beginObject();
    writeType(json, "type", parameter);
    json.endObject();
  }
  json.endArray();
}

void writeContent(JsonWriter& json, const Description& description) {
  orNull(json, "soname", description.soname);
  json.field("architecture", description.architecture);
  orNull(json, "build_id", description.build_id);
  json.breakLine();
  orNull(json, "types_missing", description.types_missing);
  orNull(json, "constants_missing", description.constants_missing);
  json.breakLine();
  description.api_version ? json.field("api_version", uint64_t{*description.api_version})
                          : json.nullField("api_version");
  writeList(json, "request_schemas", description.schemas, [&](const AbiSchema& schema) {
    json.field("version", uint64_t{schema.version});
    json.field("minimum_size", schema.minimum_size);
    json.field("known_size", schema.known_size);
  });
  writeList(json, "symbols", description.symbols, [&](const AbiSymbol& symbol) {
    json.field("name", symbol.name);
    orNull(json, "version", symbol.version);
    json.key("default"), json.boolean(symbol.by_default);
    json.field("kind", symbol.kind);
  });
  writeList(json, "structs", description.structs, [&](const AbiStruct& one) {
    json.field("name", one.name);
    json.field("size", one.size);
    json.field("alignment", one.alignment);
    writeList(json, "members", one.members, [&](const AbiMember& member) {
      json.field("name", member.name);
      writeType(json, "type", member.type);
      json.field("offset", member.offset);
      json.field("size", member.size);
    });
  });
  writeList(json, "typedefs", description.typedefs, [&](const AbiTypedef& one) {
    json.field("name", one.name);
    writeType(json, "type", one.type);
  });
  writeList(json, "constants", description.constants, [&](const AbiConstant& constant) {
    json.field("name", constant.name);
    json.key("value");
    constant.negative ? json.integer(static_cast<int64_t>(constant.value)) : json.unsignedInteger(constant.value);
  });
  writeList(json, "macros", description.macros, [&](const AbiMacro& macro) {
    json.field("name", macro.name);
    json.field("text", macro.text);
  });
  writeList(json, "functions", description.functions, [&](const AbiFunction& one) { writeFunction(json, one); });
}

}  // namespace

std::string contentText(const Description& description) {
  std::string text;
  JsonWriter json(text);
  json.beginObject();
  writeContent(json, description);
  json.endObject();
  return text;
}

std::string descriptionText(const Description& description) {
  std::string text;
  JsonWriter json(text);
  json.beginObject();
  json.field("schema_version", uint64_t{1});
  json.field("tool", "tent-abi-check");
  json.field("version", kVersion);
  json.breakLine();
  writeContent(json, description);
  json.breakLine();
  json.field("sha256", checksumOf(contentText(description)));
  json.breakLine();
  json.endObject();
  text += '\n';
  return text;
}

}  // namespace tent::tool
