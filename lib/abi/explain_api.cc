// The C API: what requests would get.
#include <cstring>
#include <string>

#include "abi/arguments.h"
#include "abi/entries.h"
#include "abi/handles.h"
#include "abi/options.h"
#include "abi/result.h"
#include "base/clock.h"
#include "config/environment_reader.h"
#include "intent/entry.h"
#include "report/result_json.h"

using namespace tent;
using namespace tent::abi;

namespace {

constexpr tent_explain_options_t kExplainDefaults = TENT_EXPLAIN_OPTIONS_INIT;
constexpr size_t kExplainOptionsMinimum = offsetof(tent_explain_options_t, now_ns);

tl::expected<Environment, Error> readEnvironmentText(const char* text) {
  FaultList faults("environment");
  Environment environment;
  if (const auto document = parseJson(text, faults)) environment = readEnvironment(*document, faults);
  if (!faults.hasErrors()) return environment;
  return tl::unexpected(errorOf(Reason::kBadConfiguration, faults.firstError()));
}

}  // namespace

int tent_explain_requests(tent_engine_t engine, const void* entries, size_t count, size_t entry_stride,
                          uint32_t schema_version, const tent_explain_options_t* given, char* buf, size_t* len) {
  return callOn(engine, [&](Engine& on) -> Error {
    if (len == nullptr) return nullArgument("len");
    auto options = readOptions(given, kExplainDefaults, kExplainOptionsMinimum);
    if (!options) return std::move(options.error());
    const auto mode = readMode(options->mode, on.config().validation_mode);
    if (!mode) return mode.error();
    if (count > 0 && entries == nullptr) return {Reason::kNullEntries, Field::kEntries, -1, {}, {}};
    std::optional<Environment> environment;
    if (options->environment != nullptr) {
      auto read = readEnvironmentText(options->environment);
      if (!read) return std::move(read.error());
      environment = *std::move(read);
    }
    RequestList list;
    if (count > 0) {
      if (Error error = checkEntries(entries, count, entry_stride, schema_version)) return error;
      list.readV1(entries, count, entry_stride, schema_version);
    }

    const uint64_t now_ns = options->now_ns == 0 ? monotonicNowNs() : options->now_ns;
    const Redactor redactor(Redaction::kDefault);
    std::string text;
    JsonWriter json(text);
    json.beginArray();
    size_t index = 0;
    for (const Request& request : list.requests()) {
      Explanation explanation = on.explain(request, *mode, now_ns, environment ? &*environment : nullptr);
      const std::string name = "entry-" + std::to_string(index);
      Result result;
      result.name = name;
      result.index = index;
      result.mode = *mode;
      result.mode_source = options->mode != TENT_MODE_CONFIGURED     ? SettingSource::kOption
                           : on.config().validation_mode.has_value() ? SettingSource::kConfiguration
                                                                     : SettingSource::kDefault;
      result.tenant_source = on.config().tenant ? SettingSource::kConfiguration : SettingSource::kDefault;
      result.shape = explanation.shape;
      result.decision = std::move(explanation.decision);
      if (result.decision.error) result.decision.error.index = static_cast<int64_t>(index);
      json.breakLine();
      writeResult(json, result, redactor);
      ++index;
    }
    json.endArray();

    const size_t room = *len;
    const size_t needed = text.size() + 1;
    *len = needed;
    if (buf == nullptr) return {};
    if (room < needed) {
      if (room > 0) buf[0] = '\0';
      return tooShort("buffer", Field::kLength, room, needed);
    }
    std::memcpy(buf, text.c_str(), needed);
    return {};
  });
}
