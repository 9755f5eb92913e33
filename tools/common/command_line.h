// How the tools read their command lines. Apart from options.h, since few files need the parser itself.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "common/options.h"

namespace tent::tool {

void addCommonOptions(CLI::App& app, CommonOptions& options);

// Those of them that every tool has, whatever it decides: quiet, verbose (`verbose` says what that adds), colour, and
// the version, whose text is made only when it is asked for.
void addDisplayOptions(CLI::App& app, CommonOptions& options, const std::string& verbose,
                       std::function<std::string()> version);

// Parses the command line. Where the tool shall end at once (help, version, wrong usage) the result is its exit code.
std::optional<int> parseCommandLine(CLI::App& app, int argc, char** argv, CommonOptions& options);

// Tells what is wrong with options that cannot go together. Returns the exit code.
int refuseCommandLine(const char* tool, const std::string& conflict);

}  // namespace tent::tool
