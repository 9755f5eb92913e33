#include "common/command_line.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <utility>

#include <unistd.h>

#include "common/exit_code.h"
#include "common/version.h"

namespace tent::tool {
namespace {

const std::map<std::string, OutputFormat> kFormats = {
    {"text", OutputFormat::kText}, {"json", OutputFormat::kJson}, {"ndjson", OutputFormat::kNdjson}};

}  // namespace

void addDisplayOptions(CLI::App& app, CommonOptions& options, const std::string& verbose,
                       std::function<std::string()> version) {
  app.add_flag("-q,--quiet", options.quiet, "No warnings and no notes");
  app.add_flag("-v,--verbose", options.verbose, verbose);
  // NO_COLOR refuses when it is set to anything but nothing (no-color.org).
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  options.color = !dumb && (no_color == nullptr || *no_color == '\0');
  app.add_flag_callback(
      "--no-color", [&options] { options.color = false; }, "No colour, also on a terminal");
  app.set_version_flag("--version", std::move(version));
  app.get_formatter()->column_width(34);
}

void addCommonOptions(CLI::App& app, CommonOptions& options) {
  app.add_option_function<std::string>(
         "--format", [&options](const std::string& name) { options.format = kFormats.at(name); },
         "How to print data: text, json or ndjson (default text)")
      ->check(CLI::IsMember(kFormats))
      ->type_name("FORMAT");
  app.add_option("--config", options.config_path, "Engine configuration to decide with")->type_name("FILE");
  app.add_option_function<std::string>(
         "--mode", [&options](const std::string& name) { options.mode = valueOfName<ValidationMode>(name); },
         "Validation mode: strict or compat")
      ->check(CLI::IsMember({"strict", "compat"}))
      ->type_name("MODE");
  app.add_option_function<std::string>(
         "--tenant",
         [&options](const std::string& name) {
           options.tenant = normalizeTenant(name);
           if (!options.tenant) {
             throw CLI::ValidationError("--tenant",
                                        "a tenant has 1 to 127 characters of A-Z a-z 0-9 . _ -, "
                                        "the first a letter or digit");
           }
         },
         "Tenant to decide for")
      ->type_name("NAME");
  addDisplayOptions(app, options, "Also what is not set, and how NICs were chosen",
                    [name = app.get_name()] { return versionText(name); });
}

std::optional<int> parseCommandLine(CLI::App& app, int argc, char** argv, CommonOptions& options) {
  try {
    app.parse(argc, argv);
    options.color = options.color && isatty(STDOUT_FILENO) == 1;
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return kExitUsage;
    std::cout.flush();
    if (std::cout) return kExitOk;
    std::cerr << app.get_name() << ": standard output cannot be written\n";
    return kExitEnvironment;
  }
}

int refuseCommandLine(const char* tool, const std::string& conflict) {
  std::fprintf(stderr, "%s: %s\nRun with --help for more information.\n", tool, conflict.c_str());
  return kExitUsage;
}

}  // namespace tent::tool
