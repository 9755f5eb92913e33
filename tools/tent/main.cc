// tent NAME ARGS...: runs the tool tent-NAME in its own place, with ARGS as they are.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "common/exit_code.h"
#include "common/output.h"
#include "common/version.h"
#include "find_tool.h"

namespace tent::tool {
namespace {

constexpr std::string_view kUsage = "usage: tent NAME [ARGUMENT...]\n       tent --help | --version\n";

std::string toolList(const std::set<std::string>& names) {
  return names.empty() ? "no tools found: none beside tent, none in PATH\n"
                       : fmt::format("tools: {}\n", fmt::join(names, " "));
}

// Output that could not be written must not look like success.
int print(const std::string& text) {
  Output output;
  output.buffer() = text;
  output.flush();
  if (output.error().empty()) return kExitOk;
  fmt::print(stderr, "tent: {}\n", output.error());
  return kExitEnvironment;
}

int usageFault(const std::string& text) {
  fmt::print(stderr, "tent: {}", text);
  return kExitUsage;
}

int run(int argc, char** argv) {
  const char* path = std::getenv("PATH");
  const auto folders = toolFolders(path == nullptr ? "" : path);

  if (argc < 2) return usageFault(fmt::format("no tool named\n{}{}", kUsage, toolList(listTools(folders))));
  const std::string_view name = argv[1];
  if (name == "--version") return print(versionText("tent") + "\n");
  if (name == "--help" || name == "-h") {
    return print(
        fmt::format("{}\nRuns the tool tent-NAME: the one beside tent, else the first in PATH. `tent NAME --help` "
                    "tells what it does.\n\n{}",
                    kUsage, toolList(listTools(folders))));
  }
  if (name.starts_with('-')) return usageFault(fmt::format("options of a tool go after its name\n{}", kUsage));
  if (!isToolName(name)) return usageFault(fmt::format("a name has letters, digits, - and _ only\n{}", kUsage));

  const auto program = findTool(folders, name);
  if (program.empty()) {
    const auto names = listTools(folders);
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    return usageFault(fmt::format("no tool {}\n{}", quoteWithSuggestion(name, candidates), toolList(names)));
  }
  std::string shown_as = fmt::format("tent-{}", name);
  argv[1] = shown_as.data();
  execv(program.c_str(), argv + 1);
  fmt::print(stderr, "tent: cannot run {}: {}\n", program.string(), std::generic_category().message(errno));
  return kExitEnvironment;
}

}  // namespace
}  // namespace tent::tool

int main(int argc, char** argv) {
  return tent::tool::run(argc, argv);
}
