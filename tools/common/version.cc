#include "common/version.h"

#include <algorithm>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <CLI/Version.hpp>
#include <nlohmann/detail/abi_macros.hpp>

#include "common/build_info.h"

namespace tent::tool {

std::string versionText(const std::string& tool) {
  std::string built;
  for (Transport transport : listOf(builtTransports())) {
    built += (built.empty() ? "" : ", ") + std::string(nameOf(transport));
  }
  return fmt::format(
      "{} {}\nbuild: {}, {}{}\nlibraries: CLI11 {}, fmt {}.{}.{}, nlohmann/json {}.{}.{}, {}\ntransports built in: {}",
      tool, kVersion, kBuildType, kCompiler, kSanitizers.empty() ? "" : fmt::format(", sanitizers {}", kSanitizers),
      CLI11_VERSION, FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, NLOHMANN_JSON_VERSION_MAJOR,
      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH, OpenSSL_version(OPENSSL_VERSION),
      built.empty() ? "none" : built);
}

TransportSet builtTransports() {
  TransportSet built;
  for (std::string_view names = kBuiltTransports; !names.empty();) {
    const size_t end = std::min(names.find(' '), names.size());
    if (const auto transport = valueOfName<Transport>(names.substr(0, end))) built.add(*transport);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return built;
}

}  // namespace tent::tool
