#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

std::vector<std::string> splitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The faults of a file by what its name says it is, warnings left out.
std::vector<std::string> faultsOf(const std::filesystem::path& path) {
  const std::string text = contentOf(path.string());
  const std::string name = path.filename().string();
  FaultList faults("");
  if (path.extension() == ".ndjson") {
    size_t number = 0;
    for (const std::string& line : splitLines(text)) {
      if (auto value = parseJson(line, faults, ++number)) readVector(*value, "", faults, false, number - 1);
    }
  } else if (auto document = parseJson(text, faults)) {
    if (name.starts_with("config-")) readEngineConfig(*document, faults);
    if (name.starts_with("environment-")) readEnvironment(*document, faults);
    if (name.starts_with("vectors-")) readVectorFile(*document, faults, false);
  }
  std::vector<std::string> lines;
  for (const Fault& fault : faults.faults()) {
    if (fault.severity == Severity::kError) lines.push_back(faults.format(fault).substr(1));
  }
  return lines;
}

// "PLACE: PART" is met by "PLACE: ...PART...", the place being "LINE:COL: POINTER".
bool matches(const std::string& expected, const std::string& found) {
  size_t colon = expected.find(": /");
  colon = colon == std::string::npos ? colon : expected.find(": ", colon + 1);
  if (colon == std::string::npos) return false;
  const std::string place = expected.substr(0, colon + 2);
  return found.starts_with(place) && found.find(expected.substr(colon + 2), place.size()) != std::string::npos;
}

}  // namespace

TEST_CASE("each malformed file gives exactly the faults it is known to have") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TENT_CORPUS "/malformed")) {
    const std::filesystem::path path = entry.path();
    if (path.extension() != ".json" && path.extension() != ".ndjson") continue;
    CAPTURE(path.filename().string());
    ++files;
    const std::vector<std::string> expected =
        splitLines(contentOf(std::filesystem::path(path).replace_extension(".faults").string()));
    const std::vector<std::string> found = faultsOf(path);
    CHECK(found.size() == expected.size());
    CHECK(!found.empty());
    for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
      CAPTURE(expected[i]);
      CAPTURE(found[i]);
      CHECK(matches(expected[i], found[i]));
    }
  }
  CHECK(files >= 15);
}
