// The functions that a client looks up, their versions, and how it finds out what it may send.
#include <array>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tent-abi-check/trial.h"

namespace tent::tool {
namespace {

std::string legacyFunctions(const Api& api) {
  require(api.missing_legacy.empty(), fmt::format("not exported: {}", fmt::join(api.missing_legacy, ", ")));
  return "all 33 functions of the legacy API are there";
}

std::string v1Functions(const Api& api) {
  if (api.missing_v1.size() == kV1FunctionCount) {
    throw Unmet(
        fmt::format("none of the {} functions of v1 is exported: a library from before v1; --legacy checks what it has",
                    kV1FunctionCount));
  }
  require(api.missing_v1.empty(), fmt::format("not exported: {}", fmt::join(api.missing_v1, ", ")));
  return fmt::format("all {} functions of v1 are there", kV1FunctionCount);
}

std::string versions(const Api& api) {
  std::vector<std::string> wrong;
  size_t checked = 0;
  const auto look = [&](const char* name, const char* version, const void* function) {
    if (function == nullptr) return;
    ++checked;
    if (dlvsym(api.library, name, version) != function) wrong.push_back(fmt::format("{}@{}", name, version));
  };
#define X(name) look(#name, kLegacyVersion, reinterpret_cast<const void*>(api.name));
  TENT_LEGACY_FUNCTIONS(X)
#undef X
#define X(name) look(#name, kV1Version, reinterpret_cast<const void*>(api.name));
  TENT_V1_FUNCTIONS(X)
#undef X
  if (wrong.size() == checked && !api.missing_v1.empty()) {
    throw Dubious("no symbol has a version, as before this library had versions");
  }
  require(wrong.empty(),
          fmt::format("programs that were linked with these do not find them: {}", fmt::join(wrong, ", ")));
  return fmt::format("{} functions by their versions {} and {}", checked, kLegacyVersion, kV1Version);
}

std::string apiVersion(const Api& api) {
  const uint32_t version = api.tent_get_api_version();
  const uint32_t major = version >> 16;
  const uint32_t minor = version & 0xffffu;
  require(major == TENT_API_VERSION_MAJOR,
          fmt::format("major version {} where the header has {}", major, TENT_API_VERSION_MAJOR));
  require(version >= TENT_API_VERSION, fmt::format("version {}.{} is older than the header's {}.{}", major, minor,
                                                   TENT_API_VERSION_MAJOR, TENT_API_VERSION_MINOR));
  return fmt::format("version {}.{}", major, minor);
}

std::string schemaDiscovery(const Api& api) {
  size_t minimum = 0;
  size_t known = 0;
  const int code = api.tent_get_request_schema_info(TENT_REQUEST_SCHEMA_V1, &minimum, &known);
  requireAccepted(api, code, "asking for schema 1");
  require(minimum == kMinimumSize, fmt::format("minimum_size is {}, not {}", minimum, kMinimumSize));
  require(known >= kKnownSize, fmt::format("known_size is {}, under the header's {}", known, kKnownSize));
  requireAccepted(api, api.tent_get_request_schema_info(TENT_REQUEST_SCHEMA_V1, nullptr, nullptr),
                  "asking for schema 1 with NULL for both sizes");
  return fmt::format("schema 1: {} to {} bytes", minimum, known);
}

std::string unknownSchema(const Api& api) {
  for (const uint32_t schema : {0u, 0x7fffffffu, 0xffffffffu}) {
    size_t minimum = 17;
    size_t known = 19;
    const int code = api.tent_get_request_schema_info(schema, &minimum, &known);
    const std::string what = fmt::format("asking for schema {}", schema);
    requireRefused(api, code, {TENT_ERROR_UNSUPPORTED_SCHEMA, TENT_REASON_SCHEMA_UNKNOWN}, what);
    require(minimum == 17 && known == 19, what + ": an output was written");
  }
  Trial trial(api);
  const tent_request_v1_t request = trial.request();
  const int code = trial.submit(&request, 1, kKnownSize, 0x7fffffffu);
  requireRefused(api, code, {TENT_ERROR_UNSUPPORTED_SCHEMA, TENT_REASON_SCHEMA_UNKNOWN},
                 "submitting by schema 2147483647");
  return "schemas that it does not have are told apart from requests that are wrong";
}

std::string mismatchedSchema(const Api& api) {
  Trial trial(api);
  tent_request_v1_t request = trial.request();
  request.schema_version = 2;
  requireRefused(api, trial.submit(request), {TENT_ERROR_UNSUPPORTED_SCHEMA, TENT_REASON_SCHEMA_MISMATCH},
                 "an entry of schema 2 in a call of schema 1");
  return "an entry cannot have another schema than the call";
}

constexpr std::array<BehaviourCheck, 7> kSymbolChecks{{
    {"symbols.legacy", Needs::kNothing, legacyFunctions},
    {"symbols.v1", Needs::kNothing, v1Functions},
    {"symbols.versions", Needs::kNothing, versions},
    {"version.api", Needs::kV1, apiVersion},
    {"schema.discovery", Needs::kV1, schemaDiscovery},
    {"schema.unknown", Needs::kV1, unknownSchema},
    {"schema.mismatch", Needs::kV1, mismatchedSchema},
}};

}  // namespace

std::span<const BehaviourCheck> symbolChecks() {
  return kSymbolChecks;
}

}  // namespace tent::tool
