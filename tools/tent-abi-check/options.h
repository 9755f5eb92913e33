// The command line of tent-abi-check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "tent-abi-check/describe.h"
#include "tent-abi-check/report.h"

namespace tent::tool {

struct Options {
  CommonOptions common;
  ReportFormat format = ReportFormat::kText;
  bool format_given = false;
  std::string library;  // of run, dump and layout ("" the header of this tool)
  std::string old_path;
  std::string new_path;
  std::string baseline;
  std::string update_baseline;
  std::string old_library;
  std::vector<std::string> old_clients;
  std::vector<std::string> new_clients;
  std::string debug_folder;
  bool without_types = false;
  bool legacy_only = false;
  double timeout_s = 20;

  ReportStyle style() const { return {format, common.color, common.quiet, common.verbose}; }
  Analysis analysis() const { return {debug_folder, timeoutNs()}; }
  uint64_t timeoutNs() const { return static_cast<uint64_t>(timeout_s * 1e9); }
};

// The commands, each as a subcommand of `app`.
void addCommands(CLI::App& app, Options& options);

// The arguments with the command that they leave out: `run`.
std::vector<std::string> completeArguments(int argc, char** argv);

}  // namespace tent::tool
