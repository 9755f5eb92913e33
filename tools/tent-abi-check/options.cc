#include "tent-abi-check/options.h"

#include <algorithm>
#include <array>
#include <map>

namespace tent::tool {
namespace {

const std::map<std::string, ReportFormat> kFormats = {{"text", ReportFormat::kText},
                                                      {"json", ReportFormat::kJson},
                                                      {"junit", ReportFormat::kJunit},
                                                      {"github", ReportFormat::kGithub}};
constexpr std::array<std::string_view, 4> kCommands{"run", "dump", "diff", "layout"};
constexpr double kLongestTimeout = 3600;

void addAnalysis(CLI::App& command, Options& options) {
  command.add_option("--debug-info-dir", options.debug_folder, "Where separate debug information lies")
      ->type_name("DIR");
  command.add_flag("--without-types", options.without_types,
                   "Leave out types and prototypes, which a stripped library does not tell");
}

void addRun(CLI::App& app, Options& options) {
  CLI::App* run = app.add_subcommand("run", "Load a library and run the behaviour matrix against it (the default)");
  run->add_option("LIB", options.library, "The library")->required()->type_name("");
  run->add_option("--baseline", options.baseline, "Compare it with this description or library too")->type_name("FILE");
  run->add_option("--old-client", options.old_clients, "Run this program of an old header with it")->type_name("BIN");
  run->add_option("--new-client", options.new_clients, "Run this program of its own header with it")->type_name("BIN");
  run->add_option("--old-library", options.old_library, "Run the clients with this library too")->type_name("LIB");
  run->add_flag("--legacy", options.legacy_only, "Only the legacy API: a library from before v1");
  run->add_option("--timeout", options.timeout_s, "Seconds that each check may take (default 20)")
      ->check(CLI::Range(0.1, kLongestTimeout))
      ->type_name("SECONDS");
  addAnalysis(*run, options);
}

}  // namespace

void addCommands(CLI::App& app, Options& options) {
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option_function<std::string>(
         "--format",
         [&options](const std::string& name) {
           options.format = kFormats.at(name);
           options.format_given = true;
         },
         "How to print: text, json, junit or github (default text)")
      ->check(CLI::IsMember(kFormats))
      ->type_name("FORMAT");
  addRun(app, options);
  CLI::App* dump = app.add_subcommand("dump", "Print the description of a library");
  dump->add_option("LIB", options.library, "The library")->required()->type_name("");
  dump->add_option("--update-baseline", options.update_baseline, "Write it to FILE, and print what that changes")
      ->type_name("FILE");
  addAnalysis(*dump, options);
  CLI::App* diff = app.add_subcommand("diff", "Judge what changes between two libraries or descriptions");
  diff->add_option("OLD", options.old_path, "What is released")->required()->type_name("");
  diff->add_option("NEW", options.new_path, "What is to be released")->required()->type_name("");
  addAnalysis(*diff, options);
  CLI::App* layout = app.add_subcommand("layout", "Print sizes and offsets");
  layout
      ->add_option("LIB", options.library, "A library or a description; else the header that this tool was built with")
      ->type_name("");
  addAnalysis(*layout, options);
}

std::vector<std::string> completeArguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  size_t first = 0;
  while (first < arguments.size() && arguments[first].starts_with('-')) {
    // A question about the tool as a whole.
    if (arguments[first] == "--help" || arguments[first] == "-h" || arguments[first] == "--version") return arguments;
    first += arguments[first] == "--format" ? size_t{2} : size_t{1};
  }
  const bool named =
      first < arguments.size() && std::find(kCommands.begin(), kCommands.end(), arguments[first]) != kCommands.end();
  if (!named && !arguments.empty()) arguments.insert(arguments.begin(), "run");
  return arguments;
}

}  // namespace tent::tool
