#include "tent-explain/lint.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "common/exit_code.h"
#include "common/interrupt.h"
#include "common/load.h"
#include "common/vector_source.h"
#include "config/environment_reader.h"
#include "config/input.h"

namespace tent::tool {
namespace {

// The keys that only environments have at their top.
constexpr std::array<std::string_view, 7> kEnvironmentKeys = {"built",     "same_machine", "local",         "peer",
                                                              "unhealthy", "disabled",     "peer_reachable"};

// Checks a document and says what it is taken for. Only engine configurations have no schema_version.
std::string checkDocument(const JsonValue& document, FaultList& faults) {
  const auto has = [&document](std::string_view key) { return document.find(key) != nullptr; };
  const bool object = document.kind == JsonValue::Kind::kObject;
  if (object && std::any_of(kEnvironmentKeys.begin(), kEnvironmentKeys.end(), has)) {
    readEnvironment(document, faults);
    return "environment";
  }
  if (object && (has("schema_version") || has("vectors"))) {
    return fmt::format("intent vectors, {}", readVectorFile(document, faults, false).vectors.size());
  }
  readEngineConfig(document, faults);
  return "engine configuration";
}

// The kind of a good file, nothing when it has faults, which have then been printed.
std::optional<std::string> lintFile(const std::string& path, bool quiet) {
  FaultList faults(path == "-" ? "<stdin>" : path);
  std::string kind;
  auto input = Input::open(path);
  if (input) input->stopOn(interruptFd());
  const auto format =
      input ? sniffVectorFormat(*input) : tl::expected<VectorFormat, std::string>(tl::unexpect, input.error());
  if (!format) {
    faults.error({}, "", format.error());
  } else if (*format == VectorFormat::kNdjson) {
    const auto outcome =
        readVectors(std::move(*input), {false, quiet, false}, [](const Vector&, const VectorHeader&) { return true; });
    if (outcome.faults > 0) return std::nullopt;
    return fmt::format("intent vectors as NDJSON, {}", outcome.vectors);
  } else if (const auto text = input->readAll(kMaxDocumentBytes); !text) {
    faults.error({}, "", text.error());
  } else if (const auto document = parseJson(*text, faults)) {
    kind = checkDocument(*document, faults);
  }
  if (interrupted()) return std::nullopt;
  printFaults(faults, quiet);
  if (faults.hasErrors()) return std::nullopt;
  return kind;
}

}  // namespace

int lintFiles(const std::vector<std::string>& paths, bool quiet, Output& output) {
  int exit_code = kExitOk;
  for (const std::string& path : paths) {
    const auto kind = lintFile(path, quiet);
    if (interrupted()) return kExitInterrupted;
    if (kind) {
      if (!quiet) output.buffer() += fmt::format("{}: good ({})\n", escapeForTerminal(path), *kind);
    } else {
      exit_code = kExitInput;
    }
  }
  return exit_code;
}

}  // namespace tent::tool
