#include "tent-abi-check/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "base/text.h"

namespace tent::tool {
namespace {

const std::map<std::string, ReportFormat> kFormats = {{"text", ReportFormat::kText},
                                                      {"json", ReportFormat::kJson},
                                                      {"junit", ReportFormat::kJunit},
                                                      {"github", ReportFormat::kGithub}};
constexpr std::array<std::string_view, 4> kCommands{"run", "dump", "diff", "layout"};

// An unset variable of a script must not leave a comparison out.
std::string refuseEmpty(const std::string& text) {
  return text.empty() ? "it is empty; is a variable unset?" : "";
}

// What is not a number lies outside too: it compares with nothing.
std::string refuseTimeout(const std::string& text) {
  constexpr double kShortest = 0.1;
  constexpr double kLongest = 3600;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && seconds >= kShortest && seconds <= kLongest) return "";
  return fmt::format("\"{}\" is not a number of seconds from {} to {}", escapeForTerminal(text), kShortest, kLongest);
}

void addAnalysis(CLI::App& command, Options& options) {
  command.add_option("--debug-info-dir", options.debug_folder, "Where separate debug information lies")
      ->check(refuseEmpty)
      ->type_name("DIR");
  command.add_flag("--without-types", options.without_types,
                   "Leave out types and prototypes, which a stripped library does not tell");
  command.add_option("--timeout", options.timeout_s, "Seconds that loading, and each check, may take (default 20)")
      ->check(refuseTimeout)
      ->type_name("SECONDS");
}

void addRun(CLI::App& app, Options& options) {
  CLI::App* run = app.add_subcommand("run", "Load a library and run the behaviour matrix against it (the default)");
  run->add_option("LIB", options.library, "The library")->required()->check(refuseEmpty)->type_name("");
  run->add_option("--baseline", options.baseline, "Compare it with this description or library too")
      ->check(refuseEmpty)
      ->type_name("FILE");
  run->add_option("--old-client", options.old_clients, "Run this program of an old header with it")
      ->check(refuseEmpty)
      ->type_name("BIN");
  run->add_option("--new-client", options.new_clients, "Run this program of its own header with it")
      ->check(refuseEmpty)
      ->type_name("BIN");
  run->add_option("--old-library", options.old_library, "Run the clients with this library too")
      ->check(refuseEmpty)
      ->type_name("LIB");
  run->add_flag("--legacy", options.legacy_only, "Only the legacy API: a library from before v1");
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
  dump->add_option("LIB", options.library, "The library")->required()->check(refuseEmpty)->type_name("");
  dump->add_option("--update-baseline", options.update_baseline, "Write it to FILE, and print what that changes")
      ->check(refuseEmpty)
      ->type_name("FILE");
  addAnalysis(*dump, options);
  CLI::App* diff = app.add_subcommand("diff", "Judge what changes between two libraries or descriptions");
  diff->add_option("OLD", options.old_path, "What is released")->check(refuseEmpty)->required()->type_name("");
  diff->add_option("NEW", options.new_path, "What is to be released")->check(refuseEmpty)->required()->type_name("");
  addAnalysis(*diff, options);
  CLI::App* layout = app.add_subcommand("layout", "Print sizes and offsets");
  layout
      ->add_option("LIB", options.library, "A library or a description; else the header that this tool was built with")
      ->check(refuseEmpty)
      ->type_name("");
  addAnalysis(*layout, options);
}

std::vector<std::string> completeArguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // The parser would take the next argument for the value.
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--") || !arguments[i].ends_with('=')) continue;
    arguments[i].pop_back();
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, "");
  }
  size_t first = 0;
  while (first < arguments.size() && arguments[first].starts_with('-')) {
    // A question about the tool as a whole.
    if (arguments[first] == "--help" || arguments[first] == "-h" || arguments[first] == "--version") return arguments;
    first += arguments[first] == "--format" ? size_t{2} : size_t{1};
  }
  const bool named =
      first < arguments.size() && std::find(kCommands.begin(), kCommands.end(), arguments[first]) != kCommands.end();
  if (!named) arguments.insert(arguments.begin(), "run");
  return arguments;
}

}  // namespace tent::tool
