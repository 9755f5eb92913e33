// The C API: what requests mean, and what they would get.
#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "abi/arguments.h"
#include "abi/entries.h"
#include "abi/handles.h"
#include "abi/result.h"
#include "abi/sized_structs.h"
#include "base/clock.h"
#include "config/environment_reader.h"
#include "intent/entry.h"
#include "intent/normalize.h"
#include "report/result_json.h"

using namespace tent;
using namespace tent::abi;

namespace {

constexpr tent_explain_options_t kExplainDefaults = TENT_EXPLAIN_OPTIONS_INIT;

// unknown_flags, as for the mode.
tl::expected<Surface, Error> readSurface(int32_t surface) {
  switch (surface) {
    case TENT_SURFACE_V1: return Surface::kV1;
    case TENT_SURFACE_CPP: return Surface::kCpp;
    case TENT_SURFACE_PYTHON: return Surface::kPython;
    default:
      return tl::unexpected(errorSaying(Reason::kUnknownFlags, Field::kFlags, int64_t{surface},
                                        fmt::format("surface {} is none of TENT_SURFACE_*", surface)));
  }
}

uint64_t nowOr(uint64_t now_ns) {
  return now_ns == 0 ? monotonicNowNs() : now_ns;
}

tent_normalized_intent_t normalizedOf(const RequestedIntent& intent) {
  tent_normalized_intent_t whole{};
  whole.opcode = static_cast<int32_t>(intent.opcode);
  whole.intent_type = static_cast<int32_t>(intent.intent_type);
  whole.requested_priority = static_cast<int32_t>(intent.priority);
  whole.transport_hint = static_cast<int32_t>(intent.transport_hint);
  whole.deadline_state = static_cast<int32_t>(intent.deadline.state);
  whole.deadline_ns = intent.deadline.deadline_ns;
  whole.remaining_ns = intent.deadline.remaining_ns;
  whole.target_offset = intent.target_offset;
  whole.length = intent.length;
  whole.flags = intent.flags;
  const std::string_view name = intent.policy_name.view();
  std::copy(name.begin(), name.end(), whole.policy_name);
  for (const Downgrade& downgrade : intent.downgrades) {
    whole.downgrades[whole.downgrade_count++] = {
        static_cast<int32_t>(downgrade.field), static_cast<int32_t>(downgrade.reason) + 1,
        static_cast<int64_t>(downgrade.from), static_cast<int64_t>(downgrade.to)};
  }
  return whole;
}

tl::expected<Environment, Error> readEnvironmentText(const char* text) {
  FaultList faults("environment");
  Environment environment;
  if (const auto document = parseJson(text, faults)) environment = readEnvironment(*document, faults);
  if (!faults.hasErrors()) return environment;
  return tl::unexpected(errorSaying(Reason::kBadConfiguration, Field::kNone, {},
                                    "the environment of the options cannot be used: " + faults.firstError()));
}

}  // namespace

extern "C" {

int tent_normalize_request(const void* entry, size_t entry_stride, uint32_t schema_version, int32_t mode,
                           uint64_t now_ns, tent_normalized_intent_t* out) {
  return call([&]() -> SubmitFailure {
    if (out == nullptr) return failureOf(nullArgument("out"));
    if (Error error = checkSize<tent_normalized_intent_t>(out->struct_size)) return failureOf(std::move(error));
    const auto checks = readMode(mode, std::nullopt);
    if (!checks) return failureOf(checks.error());
    if (entry == nullptr) return failureOf(nullEntries());
    if (Error error = checkEntries(entry, 1, entry_stride, schema_version)) return failureOf(std::move(error));
    EntryV1 decoded;
    Error error = decodeEntryV1(entry, entry_stride, schema_version, decoded);
    RequestedIntent intent;
    if (!error) {
      decoded.fields.has_source = decoded.source != nullptr;
      error = normalizeRequest(decoded.fields, *checks, nowOr(now_ns), intent);
    }
    if (error) {
      error.index = 0;
      return {std::move(error), 1};
    }
    writeSized(normalizedOf(intent), out);
    return {};
  });
}

int tent_explain_requests(tent_engine_t engine, const void* entries, size_t count, size_t entry_stride,
                          uint32_t schema_version, const tent_explain_options_t* given, char* buf, size_t* len) {
  return callOn(engine, [&](Engine& on) -> Error {
    if (len == nullptr) return nullArgument("len");
    auto options = readSized(given, kExplainDefaults);
    if (!options) return std::move(options.error());
    const auto mode = readMode(options->mode, on.config().validation_mode);
    if (!mode) return mode.error();
    const auto surface = readSurface(options->surface);
    if (!surface) return surface.error();
    if (options->reserved != 0) {
      return errorSaying(Reason::kReservedNonzero, Field::kNone, uint64_t{options->reserved},
                         "the reserved field of the options must be 0");
    }
    if (count > 0 && entries == nullptr) return nullEntries();
    std::optional<Environment> environment;
    if (options->environment != nullptr) {
      auto read = readEnvironmentText(options->environment);
      if (!read) return std::move(read.error());
      environment = *std::move(read);
    }
    RequestList list;
    if (count > 0) {
      if (Error error = checkEntries(entries, count, entry_stride, schema_version)) return error;
      list.readV1(entries, count, entry_stride, schema_version, *surface);
    }

    const uint64_t now_ns = nowOr(options->now_ns);
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

}  // extern "C"
