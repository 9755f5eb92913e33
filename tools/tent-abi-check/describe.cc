#include "tent-abi-check/describe.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include <dlfcn.h>
#include <fmt/format.h>

#include "abi/description.h"
#include "base/text.h"
#include "common/exit_code.h"
#include "tent-abi-check/abigail.h"
#include "tent-abi-check/answer.h"
#include "tent-abi-check/carried.h"
#include "tent-abi-check/description_json.h"
#include "tent/transfer_engine.h"

namespace tent::tool {
namespace {

constexpr uint32_t kMostSchemas = 16;
constexpr std::string_view kNotLoaded = "not loaded: ";

tl::unexpected<Failure> wrongInput(std::string sentence) {
  return tl::unexpected(Failure{kExitInput, std::move(sentence)});
}

std::string contradiction(const std::string& what) {
  return "the description that it carries is not of this library: " + what;
}

// Takes the types of `seen` into the struct that the library describes. Says where the two contradict each other.
std::string mergeStruct(AbiStruct& carried, const AbiStruct& seen) {
  if (carried.size != seen.size) {
    return fmt::format("struct {} has {} bytes there and {} by the debug information", carried.name, carried.size,
                       seen.size);
  }
  if (carried.members.size() != seen.members.size()) {
    return fmt::format("struct {} has {} members there and {} by the debug information", carried.name,
                       carried.members.size(), seen.members.size());
  }
  for (size_t i = 0; i < carried.members.size(); ++i) {
    AbiMember& member = carried.members[i];
    const AbiMember& other = seen.members[i];
    if (member.name != other.name || member.offset != other.offset || member.size != other.size) {
      return fmt::format(
          "member {} of struct {} is {} at {} with {} bytes there, and {} at {} with {} by the debug "
          "information",
          i, carried.name, member.name, member.offset, member.size, other.name, other.offset, other.size);
    }
    member.type = other.type;
  }
  return "";
}

std::string mergeStructs(Description& into, const HeaderTypes& types) {
  for (AbiStruct& carried : into.structs) {
    const AbiStruct* seen = findNamed(types.structs, carried.name);
    if (seen == nullptr) return fmt::format("the debug information has no struct {}", carried.name);
    if (std::string wrong = mergeStruct(carried, *seen); !wrong.empty()) return wrong;
  }
  for (const AbiStruct& seen : types.structs) {
    if (findNamed(into.structs, seen.name) == nullptr) return fmt::format("it has no struct {}", seen.name);
  }
  return "";
}

std::string mergeFunctions(Description& into, const HeaderTypes& types) {
  for (AbiFunction& carried : into.functions) {
    // What is missing there is judged (judge_symbols.cc); the debug information then has no prototype of it either.
    if (!carried.is_inline && findNamed(into.symbols, carried.name) == nullptr) continue;
    const AbiFunction* seen = findNamed(types.functions, carried.name);
    if (seen == nullptr) return fmt::format("the debug information has no prototype of {}", carried.name);
    carried.result = seen->result;
    carried.parameters = seen->parameters;
  }
  return "";
}

// Of a library that carries nothing: what its debug information says alone.
void takeTypes(Description& into, HeaderTypes types) {
  into.structs = std::move(types.structs);
  for (AbiFunction& function : types.functions) {
    if (findNamed(into.symbols, function.name) != nullptr) into.functions.push_back(std::move(function));
  }
}

std::string probe(const ElfFile& library, uint64_t timeout_ns, Description& into) {
  const Answer answer = ask({kProbeCommand, loadablePath(library)}, library, timeout_ns);
  if (!answer.text) return "did not finish loading: " + describe(answer, timeout_ns);
  // A library that ends badly is a matter of the behaviour checks; what it has answered stands.
  if (answer.text->starts_with(kNotLoaded)) return "cannot be loaded: " + answer.text->substr(kNotLoaded.size());
  std::istringstream lines(*answer.text);
  std::string word;
  while (lines >> word) {
    if (word == "version") lines >> into.api_version.emplace();
    if (word == "schema") {
      AbiSchema schema;
      lines >> schema.version >> schema.minimum_size >> schema.known_size;
      into.schemas.push_back(schema);
    }
  }
  return "";
}

}  // namespace

tl::expected<ElfFile, Failure> openLibrary(const std::string& path) {
  auto library = readElfFile(path);
  if (!library) return wrongInput(library.error());
  if (!library->native) {
    return wrongInput(
        fmt::format("{} is for {}: check it on such a machine", escapeForTerminal(path), library->architecture));
  }
  const bool has_api = std::any_of(library->symbols.begin(), library->symbols.end(),
                                   [](const AbiSymbol& symbol) { return symbol.name.starts_with("tent_"); });
  if (!has_api) {
    return wrongInput(
        fmt::format("{} exports no function of the API: no symbol begins with tent_", escapeForTerminal(path)));
  }
  return *std::move(library);
}

tl::expected<Description, Failure> describeLibrary(const ElfFile& library, const Analysis& analysis) {
  const auto wrong = [&](const std::string& what) {
    return wrongInput(fmt::format("{}: {}", escapeForTerminal(library.path), what));
  };
  std::error_code error;
  if (!analysis.debug_folder.empty() && !std::filesystem::is_directory(analysis.debug_folder, error)) {
    return wrongInput(fmt::format("--debug-info-dir {} is not a folder", escapeForTerminal(analysis.debug_folder)));
  }
  Description out;
  out.soname = library.soname;
  out.architecture = library.architecture;
  out.build_id = library.build_id;
  out.symbols = library.symbols;
  if (library.description.empty()) {
    out.constants_missing =
        fmt::format("the library carries no description of its header (section {})", TENT_ABI_DESCRIPTION_SECTION);
  } else if (const std::string fault = readCarried(library, out); !fault.empty()) {
    return wrong(fault);
  }

  auto types = analyseTypes(library.path, analysis.debug_folder);
  if (!types)
    return tl::unexpected(Failure{types.error().environment ? kExitEnvironment : kExitInput, types.error().sentence});
  out.typedefs = types->typedefs;
  out.constants.insert(out.constants.end(), types->enumerators.begin(), types->enumerators.end());
  if (types->structs.empty()) {
    out.types_missing = library.has_debug_information
                            ? "the debug information has nothing of tent/transfer_engine.h"
                            : "the library has no debug information: it was stripped, or built without -g";
  } else if (library.description.empty()) {
    takeTypes(out, *std::move(types));
  } else {
    std::string fault = mergeStructs(out, *types);
    if (fault.empty()) fault = mergeFunctions(out, *types);
    if (!fault.empty()) return wrong(contradiction(fault));
  }
  if (const std::string fault = probe(library, analysis.timeout_ns, out); !fault.empty()) return wrong(fault);
  return out;
}

tl::expected<Description, Failure> loadDescription(const std::string& path, const Analysis& analysis) {
  if (!looksLikeElf(path)) return readDescriptionFile(path);
  const auto library = openLibrary(path);
  if (!library) return tl::unexpected(library.error());
  return describeLibrary(*library, analysis);
}

int probeLibrary(const std::string& path) {
  const AnswerChannel channel;
  if (!channel) return kExitEnvironment;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return channel.say(std::string(kNotLoaded) + lastLine(dlerror()));
  }
  const auto version = reinterpret_cast<decltype(&tent_get_api_version)>(dlsym(library, "tent_get_api_version"));
  const auto info =
      reinterpret_cast<decltype(&tent_get_request_schema_info)>(dlsym(library, "tent_get_request_schema_info"));
  std::string text;
  if (version != nullptr) text += fmt::format("version {}\n", version());
  for (uint32_t schema = 1; info != nullptr && schema <= kMostSchemas; ++schema) {
    size_t minimum = 0;
    size_t known = 0;
    if (info(schema, &minimum, &known) == TENT_OK) text += fmt::format("schema {} {} {}\n", schema, minimum, known);
  }
  return channel.say(text);
}

}  // namespace tent::tool
