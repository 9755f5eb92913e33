// What libabigail sees of a library: the types of its header and the prototypes of its functions, by abidw as a child
// process (it aborts on some broken files) with every type of the debug information loaded. Entries are passed as
// `const void*`, so that no function leads to their struct: what is reachable is not enough.
//
// Thread safety: as runChild.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "tent-abi-check/description.h"

namespace tent::tool {

// What is left of the debug information once it is restricted to the installed header.
struct HeaderTypes {
  std::vector<AbiStruct> structs;
  std::vector<AbiTypedef> typedefs;
  std::vector<AbiConstant> enumerators;
  std::vector<AbiFunction> functions;
};

struct AnalysisFailure {
  bool environment = false;  // abidw is missing: nothing is wrong with the library
  std::string sentence;
};

// `debug_folder`: where separate debug information lies, as abidw takes it; "" beside the library.
tl::expected<HeaderTypes, AnalysisFailure> analyseTypes(const std::string& library, const std::string& debug_folder);

// The same of the XML that abidw wrote (abi_xml.cc). The error says what is wrong with it.
tl::expected<HeaderTypes, std::string> readAbiXml(std::string_view text);

// "abidw: 2.2.0"; nothing where it is missing.
std::optional<std::string> abidwVersion();

}  // namespace tent::tool
