#include "tent-abi-check/abigail.h"

#include <cerrno>

#include <fmt/format.h>

#include "base/text.h"
#include "tent-abi-check/child.h"

namespace tent::tool {
namespace {

constexpr uint64_t kTimeoutNs = 600'000'000'000;  // a library with all of its debug information takes minutes
constexpr const char* kProgram = "abidw";

ChildCall callOf(std::vector<std::string> words) {
  words.insert(words.begin(), kProgram);
  // Nothing is asked of the network, and messages are in one language.
  return {std::move(words), {{"DEBUGINFOD_URLS", ""}, {"LC_ALL", "C"}}, kTimeoutNs, ""};
}

}  // namespace

tl::expected<HeaderTypes, AnalysisFailure> analyseTypes(const std::string& library, const std::string& debug_folder) {
  std::vector<std::string> words{"--load-all-types"};
  if (!debug_folder.empty()) words.insert(words.end(), {"--debug-info-dir", debug_folder});
  words.push_back(library);
  const ChildEnd end = runChild(callOf(std::move(words)));
  if (end.how == ChildEnd::How::kNotStarted) {
    const char* help = end.number == ENOENT ? "; install it: apt-get install abigail-tools" : "";
    return tl::unexpected(AnalysisFailure{true, fmt::format("{} {}{}", kProgram, describe(end, kTimeoutNs), help)});
  }
  if (!end.exitedWith(0)) {
    const std::string why = withReason(describe(end, kTimeoutNs), lastLine(end.errors));
    return tl::unexpected(
        AnalysisFailure{false, fmt::format("{} of {}: {}", kProgram, escapeForTerminal(library), why)});
  }
  auto types = readAbiXml(end.output);
  if (types) return *std::move(types);
  return tl::unexpected(AnalysisFailure{
      false, fmt::format("what {} wrote of {}: {}", kProgram, escapeForTerminal(library), types.error())});
}

std::optional<std::string> abidwVersion() {
  const ChildEnd end = runChild(callOf({"--version"}));
  if (!end.exitedWith(0)) return std::nullopt;
  return lastLine(end.output);
}

}  // namespace tent::tool
