#include "abi/pending_config.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "config/input.h"
#include "config/json_value.h"

namespace tent::abi {
namespace {

struct Key {
  std::string path;  // steps between slashes
  std::string value;
};

struct Pending {
  std::optional<std::string> source;
  std::vector<Key> keys;
  std::string fault;  // of the gathering itself; "" none
};

Pending& pending() {
  thread_local Pending the_pending;
  return the_pending;
}

Error badConfiguration(std::string detail) {
  return errorOf(Reason::kBadConfiguration, std::move(detail));
}

bool isText(std::string_view source) {
  const size_t start = source.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && source[start] == '{';
}

tl::expected<JsonValue, Error> readSource(const std::string& source) {
  const bool text_given = isText(source);
  FaultList faults(text_given ? "configuration" : source);
  std::string text = source;
  if (!text_given) {
    bool exhausted = false;
    auto input = Input::open(source, &exhausted);
    if (!input) {
      return tl::unexpected(errorOf(exhausted ? Reason::kResourceExhausted : Reason::kBadConfiguration,
                                    fmt::format("{}: {}", source, input.error())));
    }
    auto read = input->readAll(kMaxDocumentBytes);
    if (!read) return tl::unexpected(badConfiguration(fmt::format("{}: {}", source, read.error())));
    text = *std::move(read);
  }
  std::optional<JsonValue> document = parseJson(text, faults);
  if (faults.hasErrors()) return tl::unexpected(badConfiguration(faults.firstError()));
  if (document->kind != JsonValue::Kind::kObject) {
    return tl::unexpected(badConfiguration(fmt::format("{}: a configuration is a JSON object", faults.file())));
  }
  return *std::move(document);
}

JsonValue textValue(const std::string& text) {
  JsonValue value;
  value.kind = JsonValue::Kind::kString;
  value.string = text;
  return value;
}

JsonValue valueOf(const std::string& text) {
  FaultList faults("value");
  std::optional<JsonValue> value = parseJson(text, faults);
  return value && !faults.hasErrors() ? *std::move(value) : textValue(text);
}

// The place of a key in the document, made where it is not there; nullptr where a step leads through what is no object.
JsonValue* placeOf(JsonValue& document, std::string_view path, std::string& pointer) {
  JsonValue* at = &document;
  while (true) {
    if (at->kind == JsonValue::Kind::kNull) at->kind = JsonValue::Kind::kObject;
    if (at->kind != JsonValue::Kind::kObject) return nullptr;
    const size_t slash = path.find('/');
    const std::string_view step = path.substr(0, slash);
    if (step.empty()) return nullptr;
    pointer = pointerTo(pointer, step);
    const auto it = std::find_if(at->members.begin(), at->members.end(),
                                 [&](const JsonValue::Member& member) { return member.key == step; });
    if (it != at->members.end()) {
      at = &it->value;
    } else {
      at->members.push_back({std::string(step), {}, {}});
      at = &at->members.back().value;
    }
    if (slash == std::string_view::npos) return at;
    path.remove_prefix(slash + 1);
  }
}

tl::expected<EngineConfig, Error> configIn(const JsonValue& document, const std::string& source) {
  FaultList faults(source.empty() || isText(source) ? "configuration" : source);
  EngineConfig config = readEngineConfig(document, faults);
  if (faults.hasErrors()) return tl::unexpected(badConfiguration(faults.firstError()));
  return config;
}

}  // namespace

void setConfigSource(const char* source) {
  if (source == nullptr) {
    pending().fault = "tent_load_config_from_file was given NULL";
  } else {
    pending().source = source;
  }
}

void setConfigKey(const char* key, const char* value) {
  if (key == nullptr || value == nullptr) {
    pending().fault = "tent_set_config was given NULL";
  } else {
    pending().keys.push_back({key, value});
  }
}

tl::expected<EngineConfig, Error> readConfig(const std::string& source) {
  auto document = readSource(source);
  if (!document) return tl::unexpected(std::move(document.error()));
  return configIn(*document, source);
}

tl::expected<EngineConfig, Error> takeConfig() {
  const Pending taken = std::exchange(pending(), {});
  if (!taken.fault.empty()) return tl::unexpected(badConfiguration(taken.fault));
  JsonValue document;
  document.kind = JsonValue::Kind::kObject;
  if (taken.source) {
    auto read = readSource(*taken.source);
    if (!read) return tl::unexpected(std::move(read.error()));
    document = *std::move(read);
  }
  for (const Key& key : taken.keys) {
    std::string pointer;
    JsonValue* place = placeOf(document, key.path, pointer);
    if (place == nullptr) {
      return tl::unexpected(badConfiguration(
          fmt::format("tent_set_config: \"{}\" is no key: steps are names of objects, with one slash between them",
                      escapeForTerminal(key.path))));
    }
    *place = valueOf(key.value);
    // "4711" may be the text of a name as well as a number: it is what the key wants.
    FaultList faults("configuration");
    readEngineConfig(document, faults);
    const auto& all = faults.faults();
    const bool refused = std::any_of(all.begin(), all.end(), [&](const Fault& fault) {
      return fault.severity == Severity::kError && fault.pointer == pointer;
    });
    if (refused && place->kind != JsonValue::Kind::kString) {
      JsonValue scalar = std::exchange(*place, textValue(key.value));
      FaultList again("configuration");
      readEngineConfig(document, again);
      if (again.errorCount() >= faults.errorCount()) *place = std::move(scalar);
    }
  }
  return configIn(document, taken.source.value_or(""));
}

}  // namespace tent::abi
