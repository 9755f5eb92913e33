#include "config/value_fields.h"

#include <fmt/format.h>

#include "base/text.h"

namespace tent {

std::span<const std::string_view> transportNames() {
  return namesOf<Transport>().subspan(1);
}

std::optional<std::vector<std::string>> readStrings(ObjectReader& object, std::string_view key,
                                                    const StringCheck& check) {
  const std::vector<JsonValue>* items = object.array(key);
  if (!items) return std::nullopt;
  const std::string pointer = object.pointerOf(key);
  std::set<std::string_view> seen;
  std::vector<std::string> strings;
  for (size_t i = 0; i < items->size(); ++i) {
    const JsonValue& item = (*items)[i];
    std::optional<std::string> wrong;
    if (item.kind != JsonValue::Kind::kString) {
      wrong = fmt::format("expected a string, found {}", describe(item.kind));
    } else if (item.string.empty()) {
      wrong = "is empty";
    } else if (!seen.insert(item.string).second) {
      wrong = fmt::format("\"{}\" is listed twice", item.string);
    } else if (check) {
      wrong = check(item.string);
    }
    if (wrong) {
      object.faults().error(item.position, pointerTo(pointer, i), *std::move(wrong));
    } else {
      strings.push_back(item.string);
    }
  }
  if (strings.size() != items->size()) return std::nullopt;
  return strings;
}

std::optional<std::string> readNonEmptyString(ObjectReader& object, std::string_view key) {
  std::optional<std::string> text = object.string(key);
  if (text && text->empty()) {
    object.fault(key, "is empty");
    return std::nullopt;
  }
  return text;
}

std::optional<TransportList> readTransports(ObjectReader& object, std::string_view key) {
  const std::optional<std::vector<std::string>> names =
      readStrings(object, key, [](const std::string& name) -> std::optional<std::string> {
        const std::optional<Transport> transport = valueOfName<Transport>(name);
        if (transport && *transport != Transport::kUnspec) return std::nullopt;
        return "unknown transport " + quoteWithSuggestion(name, transportNames());
      });
  if (!names) return std::nullopt;
  TransportList list;
  for (const std::string& name : *names) list.add(*valueOfName<Transport>(name));
  return list;
}

std::optional<TransportSet> readTransportSet(ObjectReader& object, std::string_view key) {
  const std::optional<TransportList> list = readTransports(object, key);
  if (!list) return std::nullopt;
  TransportSet set;
  for (const Transport transport : *list) set.add(transport);
  return set;
}

std::optional<Priority> readConfigPriority(ObjectReader& object, std::string_view key) {
  const JsonValue* value = object.take(key);
  if (!value) return std::nullopt;
  std::optional<Priority> priority;
  if (value->kind == JsonValue::Kind::kUnsigned && value->unsigned_integer <= 2) {
    priority = valueOfInteger<Priority>(static_cast<int64_t>(value->unsigned_integer));
  } else if (value->kind == JsonValue::Kind::kString) {
    const std::string& text = value->string;
    priority = text.size() == 1 ? valueOfInteger<Priority>(text[0] - '0') : valueOfName<Priority>(toLowerAscii(text));
  }
  if (priority) return priority;
  object.fault(key, value->kind == JsonValue::Kind::kString
                        ? fmt::format("unknown priority {}", quoteWithSuggestion(value->string, namesOf<Priority>()))
                        : "expected a priority: high, medium or low, or 0 to 2");
  return std::nullopt;
}

std::optional<PolicyName> readTenant(ObjectReader& object, std::string_view key) {
  const std::optional<std::string> name = object.string(key);
  if (!name) return std::nullopt;
  std::optional<PolicyName> tenant = normalizeTenant(*name);
  if (!tenant) {
    object.fault(key, fmt::format("\"{}\" is no tenant name: 1 to {} letters, digits, '.', '_' or '-', the first a "
                                  "letter or a digit",
                                  *name, kPolicyNameMax));
  }
  return tenant;
}

std::optional<MemoryLocation> readMemoryLocation(ObjectReader& object, std::string_view key) {
  const std::optional<std::string> text = object.string(key);
  if (!text) return std::nullopt;
  const std::optional<MemoryLocation> location = parseMemoryLocation(*text);
  if (!location) object.fault(key, fmt::format("\"{}\" is no memory: cpu, cpu:0, ... or cuda:0, ...", *text));
  return location;
}

std::optional<ValidationMode> readMode(ObjectReader& object, std::string_view key) {
  const std::optional<size_t> index = object.oneOf(key, namesOf<ValidationMode>());
  if (!index) return std::nullopt;
  return static_cast<ValidationMode>(*index);
}

void readSchemaVersion(ObjectReader& object) {
  object.require("schema_version");
  const std::optional<uint64_t> version = object.unsignedInteger("schema_version", 0, UINT64_MAX);
  if (version && *version != 1) {
    object.fault("schema_version", fmt::format("version {} of this format is not known; this build reads 1", *version));
  }
}

void rejectNulls(const JsonValue& value, const std::string& pointer, FaultList& faults) {
  if (value.kind == JsonValue::Kind::kNull) faults.error(value.position, pointer, "null is not allowed here");
  for (size_t i = 0; i < value.items.size(); ++i) rejectNulls(value.items[i], pointerTo(pointer, i), faults);
  for (const JsonValue::Member& member : value.members) {
    rejectNulls(member.value, pointerTo(pointer, member.key), faults);
  }
}

bool Uniqueness::first(ObjectReader& object, std::string_view key, const std::string& value) {
  if (seen_.insert(value).second) return true;
  object.fault(key, fmt::format("{} {} is there twice", what_, value));
  return false;
}

}  // namespace tent
