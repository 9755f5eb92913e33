// run: the behaviour matrix, the comparison with a baseline, and the clients of others.
#include <cstdio>
#include <utility>

#include "common/exit_code.h"
#include "common/interrupt.h"
#include "tent-abi-check/clients.h"
#include "tent-abi-check/commands.h"
#include "tent-abi-check/judge.h"
#include "tent-abi-check/run_behaviour.h"

namespace tent::tool {
namespace {

// All inputs are read before anything runs, so that a misspelt one costs no time.
struct Inputs {
  ElfFile library;
  std::optional<Judgement> judgement;
  std::vector<ClientProgram> clients;
  std::vector<ClientLibrary> libraries;
};

std::optional<Failure> readClients(const std::vector<std::string>& paths, bool are_old,
                                   std::vector<ClientProgram>& into) {
  for (const std::string& path : paths) {
    auto program = readElfFile(path, ElfKind::kProgram);
    if (!program) return Failure{kExitInput, program.error()};
    into.push_back({*std::move(program), are_old});
  }
  return std::nullopt;
}

tl::expected<Inputs, Failure> readInputs(const Options& options) {
  Inputs inputs;
  auto library = openLibrary(options.library);
  if (!library) return tl::unexpected(library.error());
  inputs.library = *std::move(library);
  if (auto failure = readClients(options.old_clients, true, inputs.clients)) return tl::unexpected(*failure);
  if (auto failure = readClients(options.new_clients, false, inputs.clients)) return tl::unexpected(*failure);
  if (const std::string fault = temporaryFault(); !inputs.clients.empty() && !fault.empty()) {
    return tl::unexpected(Failure{kExitEnvironment, fault});
  }
  if (!options.old_library.empty()) {
    auto old_library = openLibrary(options.old_library);
    if (!old_library) return tl::unexpected(old_library.error());
    inputs.libraries.push_back({*std::move(old_library), true});
  }
  inputs.libraries.push_back({inputs.library, false});
  if (!options.baseline.empty()) {
    const auto was = loadDescription(options.baseline, options.analysis());
    if (!was) return tl::unexpected(was.error());
    const auto now = describeLibrary(inputs.library, options.analysis());
    if (!now) return tl::unexpected(now.error());
    inputs.judgement = judge(*was, *now, {options.without_types});
  }
  return inputs;
}

}  // namespace

int refuse(const Failure& failure) {
  if (interrupted()) return kExitInterrupted;
  std::fprintf(stderr, "tent-abi-check: %s\n", failure.sentence.c_str());
  return failure.exit_code;
}

int refuse(const Failure& failure, Report report, const Options& options, Output& output) {
  const int exit_code = refuse(failure);
  if (options.format == ReportFormat::kText) return exit_code;
  report.interrupted = exit_code == kExitInterrupted;
  report.checks = {{"input", Outcome::kFail, failure.sentence, 0, std::nullopt, false}};
  output.buffer() += printReport(report, options.style());
  return exit_code;
}

int runLibrary(const Options& options, Output& output) {
  if (!options.old_library.empty() && options.old_clients.empty() && options.new_clients.empty()) {
    return refuseCommandLine("tent-abi-check", "--old-library needs clients to run: --old-client, --new-client");
  }
  Report report;
  report.command = "run";
  report.subject = {options.library};
  auto inputs = readInputs(options);
  if (!inputs) return refuse(inputs.error(), std::move(report), options, output);
  runBehaviour(inputs->library, {options.legacy_only, options.timeoutNs()}, report);
  if (inputs->judgement) {
    const std::vector<Check> checks = checksOf(*inputs->judgement);
    report.checks.insert(report.checks.end(), checks.begin(), checks.end());
  }
  if (!report.interrupted) runClients(inputs->clients, inputs->libraries, options.timeoutNs(), report);
  output.buffer() += printReport(report, options.style());
  return exitCodeOf(report);
}

}  // namespace tent::tool
