// Reads texts in tests the way the tools read files.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/engine_config.h"
#include "config/environment_reader.h"
#include "config/vectors.h"

namespace tent::test {

template <typename T>
struct Reading {
  std::optional<T> value;  // absent when the text is no JSON
  FaultList faults{"test.json"};

  // The faults as "LINE:COL: POINTER: message", in order.
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Fault& fault : faults.faults()) lines.push_back(faults.format(fault).substr(faults.file().size() + 1));
    return lines;
  }
  // Whether exactly one fault was found, at that pointer and with that text in its message.
  bool onlyFault(std::string_view pointer, std::string_view text) const {
    return faults.faults().size() == 1 && has(Severity::kError, pointer, text);
  }
  bool onlyWarning(std::string_view pointer, std::string_view text) const {
    return faults.faults().size() == 1 && has(Severity::kWarning, pointer, text);
  }
  bool clean() const { return value && faults.faults().empty(); }

 private:
  bool has(Severity severity, std::string_view pointer, std::string_view text) const {
    return std::ranges::any_of(faults.faults(), [&](const Fault& fault) {
      return fault.severity == severity && fault.pointer == pointer && fault.message.find(text) != std::string::npos;
    });
  }
};

inline Reading<EngineConfig> readConfig(std::string_view text) {
  Reading<EngineConfig> reading;
  if (auto document = parseJson(text, reading.faults)) reading.value = readEngineConfig(*document, reading.faults);
  return reading;
}

inline Reading<Environment> readEnv(std::string_view text) {
  Reading<Environment> reading;
  if (auto document = parseJson(text, reading.faults)) reading.value = readEnvironment(*document, reading.faults);
  return reading;
}

inline Reading<VectorFile> readVectors(std::string_view text, bool clock_pinned = false) {
  Reading<VectorFile> reading;
  if (auto document = parseJson(text, reading.faults)) {
    reading.value = readVectorFile(*document, reading.faults, clock_pinned);
  }
  return reading;
}

// One vector, as a line of NDJSON.
inline Reading<Vector> readLine(std::string_view text, bool clock_pinned = false) {
  Reading<Vector> reading;
  if (auto value = parseJson(text, reading.faults)) {
    reading.value = readVector(*value, "", reading.faults, clock_pinned);
  }
  return reading;
}

inline std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tent::test
