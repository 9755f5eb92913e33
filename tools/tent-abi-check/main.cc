// tent-abi-check: whether a build of libtent.so keeps what the released ones promised, in what it declares and in what
// it does.
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <libelf.h>
#include <pugixml.hpp>

#include "common/command_line.h"
#include "common/exit_code.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "common/version.h"
#include "tent-abi-check/abigail.h"
#include "tent-abi-check/commands.h"
#include "tent-abi-check/options.h"
#include "tent-abi-check/run_behaviour.h"

namespace tent::tool {
namespace {

std::string versionWithLibraries() {
  const auto abidw = abidwVersion();
  return versionText("tent-abi-check") +
         fmt::format("\nabi analysis: pugixml {}.{}, libelf with ELF version {}, {}", PUGIXML_VERSION / 1000,
                     PUGIXML_VERSION % 1000 / 10, elf_version(EV_CURRENT),
                     abidw.value_or("types not analysed: abidw is missing (apt-get install abigail-tools)"));
}

int run(const CLI::App& app, const Options& options, Output& output) {
  if (app.got_subcommand("dump")) return dumpLibrary(options, output);
  if (app.got_subcommand("diff")) return diffLibraries(options, output);
  if (app.got_subcommand("layout")) return printLayout(options, output);
  return runLibrary(options, output);
}

}  // namespace
}  // namespace tent::tool

int main(int argc, char** argv) {
  using namespace tent::tool;
  // What the tool runs itself as, for whatever a library may do to its process.
  if (argc == 3 && std::string_view(argv[1]) == kProbeCommand) return probeLibrary(argv[2]);
  if (argc == 4 && std::string_view(argv[1]) == kCheckCommand) return checkLibrary(argv[2], argv[3]);

  catchInterrupts();
  CLI::App app("Check that a build of libtent.so keeps its ABI: what it declares, and what it does", "tent-abi-check");
  Options options;
  addDisplayOptions(app, options.common, "Also harmless changes, times, and constants", versionWithLibraries);
  addCommands(app, options);
  std::vector<std::string> arguments = completeArguments(argc, argv);
  std::vector<char*> pointers{argv[0]};
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  if (const auto exit_code =
          parseCommandLine(app, static_cast<int>(pointers.size()), pointers.data(), options.common)) {
    return *exit_code;
  }
  Output output;
  return finish(output, "tent-abi-check", run(app, options, output));
}
