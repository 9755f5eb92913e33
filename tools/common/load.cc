#include "common/load.h"

#include <cstdio>

#include "common/interrupt.h"
#include "config/environment_reader.h"
#include "config/input.h"

namespace tent::tool {
namespace {

template <typename T, typename Read>
std::optional<T> loadAs(const std::string& path, bool quiet, Read read) {
  FaultList faults(path == "-" ? "<stdin>" : path);
  const std::optional<JsonValue> document = loadJson(path, faults);
  std::optional<T> value;
  if (document) value = read(*document, faults);
  printFaults(faults, quiet);
  if (faults.hasErrors()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<JsonValue> loadJson(const std::string& path, FaultList& faults) {
  auto input = Input::open(path);
  if (!input) {
    faults.error({}, "", input.error());
    return std::nullopt;
  }
  input->stopOn(interruptFd());
  const auto text = input->readAll(kMaxDocumentBytes);
  if (!text) {
    faults.error({}, "", text.error());
    return std::nullopt;
  }
  return parseJson(*text, faults);
}

void printFaults(const FaultList& faults, bool quiet) {
  std::string text;
  for (const Fault& fault : faults.faults()) {
    if (!quiet || fault.severity == Severity::kError) text += faults.format(fault) + "\n";
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::optional<EngineConfig> loadEngineConfig(const std::string& path, bool quiet) {
  return loadAs<EngineConfig>(path, quiet, readEngineConfig);
}

std::optional<Environment> loadEnvironment(const std::string& path, bool quiet) {
  return loadAs<Environment>(path, quiet, readEnvironment);
}

}  // namespace tent::tool
