#include "tent-abi-check/description_whole.h"

#include <array>
#include <set>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/text.h"

namespace tent::tool {
namespace {

template <typename T, typename Name>
void checkOnce(const std::vector<T>& all, std::string_view key, ObjectReader& object, Name name) {
  std::set<std::string> seen;
  for (const T& one : all) {
    if (!seen.insert(name(one)).second) object.fault(key, fmt::format("{} is there twice", name(one)));
  }
}

template <typename T>
void checkNames(const std::vector<T>& all, std::string_view key, ObjectReader& object) {
  checkOnce(all, key, object, [](const T& one) { return one.name; });
}

}  // namespace

std::string checksumOf(std::string_view content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (EVP_Digest(content.data(), content.size(), bytes.data(), &size, EVP_sha256(), nullptr) != 1) return "";
  return toHex({reinterpret_cast<const char*>(bytes.data()), size});
}

void checkWhole(const Description& description, ObjectReader& object) {
  const auto need = [&](const char* key, bool empty, const std::string& missing, const char* missing_key) {
    if (empty && missing.empty())
      object.fault(key, fmt::format("there are none, and {} does not say why", missing_key));
  };
  // A description of nothing would be compatible with everything.
  if (description.symbols.empty()) object.fault("symbols", "a library of this API exports some");
  need("structs", description.structs.empty(), description.types_missing, "types_missing");
  need("typedefs", description.typedefs.empty(), description.types_missing, "types_missing");
  need("functions", description.functions.empty(), description.types_missing, "types_missing");
  need("functions", description.functions.empty() && !description.types_missing.empty(), description.constants_missing,
       "constants_missing");
  need("constants", description.constants.empty(), description.constants_missing, "constants_missing");
  need("macros", description.macros.empty(), description.constants_missing, "constants_missing");
  const bool tells_version = findNamed(description.symbols, "tent_get_api_version") != nullptr;
  if (tells_version != description.api_version.has_value()) {
    object.fault("api_version", tells_version ? "tent_get_api_version is exported, and tells one"
                                              : "without tent_get_api_version nothing tells one");
  }
  const bool tells_schemas = findNamed(description.symbols, "tent_get_request_schema_info") != nullptr;
  if (tells_schemas && description.schemas.empty()) {
    object.fault("request_schemas", "tent_get_request_schema_info is exported, and tells of some");
  }

  checkOnce(description.symbols, "symbols", object,
            [](const AbiSymbol& one) { return one.version.empty() ? one.name : one.name + "@" + one.version; });
  checkOnce(description.schemas, "request_schemas", object,
            [](const AbiSchema& one) { return fmt::format("schema {}", one.version); });
  checkNames(description.structs, "structs", object);
  checkNames(description.typedefs, "typedefs", object);
  checkNames(description.constants, "constants", object);
  checkNames(description.macros, "macros", object);
  checkNames(description.functions, "functions", object);
  for (const AbiStruct& one : description.structs) checkNames(one.members, "structs", object);
}

}  // namespace tent::tool
