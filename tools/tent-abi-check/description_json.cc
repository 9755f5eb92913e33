#include "tent-abi-check/description_json.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"
#include "common/exit_code.h"
#include "common/load.h"
#include "config/fields.h"
#include "config/value_fields.h"
#include "tent-abi-check/description_whole.h"

namespace tent::tool {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
constexpr const char* kAnew =
    "take the file from where it was released, or delete it and write it anew (dump LIB --update-baseline FILE)";

// Strings that may be null.
std::string readText(ObjectReader& object, std::string_view key) {
  object.require(key);
  const JsonValue* value = object.take(key);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return "";
  return object.string(key).value_or("");
}

std::string readName(ObjectReader& object, std::string_view key = "name") {
  object.require(key);
  return readNonEmptyString(object, key).value_or("");
}

uint64_t readNumber(ObjectReader& object, std::string_view key) {
  object.require(key);
  return object.unsignedInteger(key, 0, kMost).value_or(0);
}

AbiType readType(ObjectReader& object, std::string_view key) {
  object.require(key);
  return {object.string(key).value_or(""), readText(object, std::string(key) + "_resolved")};
}

template <typename T, typename Read>
std::vector<T> readList(ObjectReader& parent, std::string_view key, Read read) {
  std::vector<T> out;
  parent.require(key);
  const std::vector<JsonValue>* items = parent.array(key);
  for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
    ObjectReader object((*items)[i], pointerTo(parent.pointerOf(key), i), parent.faults());
    out.push_back(read(object));
    object.finish(UnknownKeys::kError);
  }
  return out;
}

AbiSymbol readSymbol(ObjectReader& object) {
  constexpr std::array<std::string_view, 2> kKinds{"function", "object"};
  AbiSymbol out;
  out.name = readName(object);
  out.version = readText(object, "version");
  for (const char* key : {"default", "kind"}) object.require(key);
  out.by_default = object.boolean("default").value_or(false);
  out.kind = kKinds.at(object.oneOf("kind", kKinds).value_or(0));
  return out;
}

AbiStruct readStruct(ObjectReader& object) {
  AbiStruct out{readName(object), readNumber(object, "size"), readNumber(object, "alignment"), {}};
  out.members = readList<AbiMember>(object, "members", [](ObjectReader& member) {
    return AbiMember{readName(member), readType(member, "type"), readNumber(member, "offset"),
                     readNumber(member, "size")};
  });
  for (const AbiMember& member : out.members) {
    if (member.offset > out.size || member.size > out.size - member.offset) {
      object.fault("members", fmt::format("{} lies outside the {} bytes of its struct", member.name, out.size));
    }
  }
  return out;
}

AbiConstant readConstant(ObjectReader& object) {
  AbiConstant out{readName(object), false, 0};
  object.require("value");
  const JsonValue* value = object.take("value");
  if (value != nullptr && value->kind == JsonValue::Kind::kInteger) {
    out.negative = true;
    out.value = static_cast<uint64_t>(value->integer);
  } else if (value != nullptr) {
    out.value = object.unsignedInteger("value", 0, kMost).value_or(0);
  }
  return out;
}

AbiFunction readFunction(ObjectReader& object) {
  AbiFunction out;
  out.name = readName(object);
  object.require("inline");
  out.is_inline = object.boolean("inline").value_or(false);
  out.declared = readText(object, "declared");
  out.result = readType(object, "returns");
  out.parameters = readList<AbiType>(object, "parameters", [](ObjectReader& type) { return readType(type, "type"); });
  return out;
}

AbiSchema readSchema(ObjectReader& object) {
  AbiSchema out;
  object.require("version");
  out.version = static_cast<uint32_t>(object.unsignedInteger("version", 0, UINT32_MAX).value_or(0));
  out.minimum_size = readNumber(object, "minimum_size");
  out.known_size = readNumber(object, "known_size");
  return out;
}

}  // namespace

Description readDescription(const JsonValue& document, FaultList& faults) {
  ObjectReader object(document, "", faults);
  readSchemaVersion(object);
  for (const char* key : {"tool", "version"}) readName(object, key);
  Description out;
  out.soname = readText(object, "soname");
  out.architecture = readName(object, "architecture");
  out.build_id = readText(object, "build_id");
  out.types_missing = readText(object, "types_missing");
  out.constants_missing = readText(object, "constants_missing");
  object.require("api_version");
  const JsonValue* version = object.take("api_version");
  if (version != nullptr && version->kind != JsonValue::Kind::kNull) {
    out.api_version = static_cast<uint32_t>(object.unsignedInteger("api_version", 0, UINT32_MAX).value_or(0));
  }
  out.schemas = readList<AbiSchema>(object, "request_schemas", readSchema);
  out.symbols = readList<AbiSymbol>(object, "symbols", readSymbol);
  out.structs = readList<AbiStruct>(object, "structs", readStruct);
  out.typedefs = readList<AbiTypedef>(object, "typedefs", [](ObjectReader& one) {
    return AbiTypedef{readName(one), readType(one, "type")};
  });
  out.constants = readList<AbiConstant>(object, "constants", readConstant);
  out.macros = readList<AbiMacro>(object, "macros", [](ObjectReader& one) {
    return AbiMacro{readName(one), readName(one, "text")};
  });
  out.functions = readList<AbiFunction>(object, "functions", readFunction);
  const bool has_checksum = object.take("sha256") != nullptr;
  const std::string checksum = has_checksum ? readName(object, "sha256") : "";
  if (!has_checksum)
    object.fault("sha256", fmt::format("there is no sha256: the file was edited, or is of an older tool; {}", kAnew));
  object.finish(UnknownKeys::kError);
  if (!faults.hasErrors()) checkWhole(out, object);
  if (!faults.hasErrors() && checksum != checksumOf(contentText(out))) {
    object.fault("sha256",
                 fmt::format("the content is not what the tool wrote: it was edited, merged or cut; {}", kAnew));
  }
  return out;
}

tl::expected<Description, Failure> readDescriptionFile(const std::string& path) {
  // A pipe that nobody writes to would be waited for without end.
  std::error_code error;
  if (path != "-" && std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return tl::unexpected(Failure{kExitInput, escapeForTerminal(path) + " is not a regular file"});
  }
  FaultList faults(path == "-" ? "<stdin>" : path);
  const std::optional<JsonValue> document = loadJson(path, faults);
  Description out;
  if (document) out = readDescription(*document, faults);
  if (!faults.hasErrors()) return out;
  printFaults(faults, true);
  const auto& all = faults.faults();
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Fault& one) { return one.severity == Severity::kError; });
  if (document && first != all.end()) {
    return tl::unexpected(
        Failure{kExitInput,
                fmt::format("{} is no description of a library that is whole: {}: {}", escapeForTerminal(faults.file()),
                            first->pointer.empty() ? "its document" : escapeForTerminal(first->pointer),
                            escapeForTerminal(first->message))});
  }
  return tl::unexpected(Failure{kExitInput, fmt::format("{} is neither a shared library nor a description of one",
                                                        escapeForTerminal(faults.file()))});
}

}  // namespace tent::tool
