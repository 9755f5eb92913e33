// tent-explain: reads intent vectors and prints, for each, what was requested, what it gets, and how it would be
// carried, with the reason of each step. Decides with the same code that executes.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "common/command_line.h"
#include "common/exit_code.h"
#include "common/interrupt.h"
#include "common/load.h"
#include "common/output.h"
#include "common/vector_source.h"
#include "tent-explain/lint.h"
#include "tent-explain/probe.h"
#include "tent-explain/sink.h"

namespace tent::tool {
namespace {

struct Options {
  CommonOptions common;
  std::vector<std::string> files;
  bool check = false;
  bool lint = false;
  bool probe = false;
  std::string environment_path;  // "" none
  std::optional<uint64_t> now_ns;
  Redaction redaction = Redaction::kDefault;
  std::string other_config_path;  // "" no --diff
};

const std::map<std::string, Redaction> kRedactions = {
    {"default", Redaction::kDefault}, {"strict", Redaction::kStrict}, {"none", Redaction::kNone}};

// The parser's own conversion lets integers beyond 64 bits pass.
uint64_t parseNow(const std::string& text) {
  uint64_t now_ns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), now_ns);
  if (error != std::errc() || end != text.data() + text.size() || now_ns == 0) {
    throw CLI::ValidationError("--now", "must be an integer from 1 to 18446744073709551615, is " + text);
  }
  return now_ns;
}

void addOptions(CLI::App& app, Options& options) {
  app.add_option("FILES", options.files, "Intent vectors: documents or NDJSON; - is standard input")->type_name("");
  auto* check =
      app.add_flag("--check", options.check, "Compare with what each vector expects; print only what differs");
  auto* lint =
      app.add_flag("--lint", options.lint, "Only check the files: intent vectors, environments, engine configurations");
  auto* probe = app.add_flag("--probe", options.probe, "Print what this machine has; with files, plan against it");
  app.add_option("--env", options.environment_path, "Environment to plan against")->type_name("FILE")->excludes(probe);
  app.add_option_function<std::string>(
         "--now", [&options](const std::string& text) { options.now_ns = parseNow(text); },
         "The time to decide at, in nanoseconds of CLOCK_MONOTONIC")
      ->type_name("NS");
  app.add_option_function<std::string>(
         "--redact", [&options](const std::string& name) { options.redaction = kRedactions.at(name); },
         "What to hide: default, strict or none")
      ->check(CLI::IsMember(kRedactions))
      ->type_name("LEVEL");
  app.add_option("--diff", options.other_config_path, "Show which vectors would change under this other configuration")
      ->type_name("FILE")
      ->excludes(check)
      ->excludes(lint);
  check->excludes(lint);
}

// Feeds all files to the sink. Returns an exit code.
int explainFiles(const Options& options, ResultSink& sink, Output& output) {
  RunEnd run;
  sink.begin();
  for (const std::string& path : options.files) {
    const auto take = [&](const Vector& vector, const VectorHeader& header) {
      sink.take(path == "-" ? "<stdin>" : path, vector, header);
      return !output.closed() && output.error().empty();
    };
    run.faults += readVectors(path, {options.now_ns.has_value(), options.common.quiet, false}, take, [&] {
                    output.flush();
                  }).faults;
    if (interrupted() || output.closed()) break;
  }
  run.interrupted = interrupted();
  sink.end(run);
  if (run.interrupted) return kExitInterrupted;
  if (run.faults > 0) return kExitInput;
  return sink.satisfied() ? kExitOk : kExitNo;
}

int runFiles(const Options& options, const Redactor& redactor, Output& output) {
  const CommonOptions& common = options.common;
  EngineConfig config;
  if (!common.config_path.empty()) {
    auto loaded = loadEngineConfig(common.config_path, common.quiet);
    if (!loaded) return kExitInput;
    config = std::move(*loaded);
  }
  std::optional<EngineConfig> other;
  if (!options.other_config_path.empty()) {
    other = loadEngineConfig(options.other_config_path, common.quiet);
    if (!other) return kExitInput;
  }
  Environment environment = referenceEnvironment();
  if (!options.environment_path.empty()) {
    auto loaded = loadEnvironment(options.environment_path, common.quiet);
    if (!loaded) return kExitInput;
    environment = std::move(*loaded);
  } else if (options.probe) {
    environment = probeThisMachine(common.quiet);
  }

  const ExplainContext explain_context{config,        environment,    common.mode,
                                       common.tenant, options.now_ns, monotonicNowNs()};
  const bool reference = environment.origin == Environment::Origin::kReference;
  const SinkContext context{explain_context, redactor, common, output, reference};
  const auto sink = options.check ? makeCheckSink(context)
                    : other       ? makeDiffSink(context, *other)
                                  : makeExplainSink(context);
  return explainFiles(options, *sink, output);
}

// What is wrong with the options as a whole; "" nothing.
std::string conflictOf(const Options& options) {
  std::vector<std::string> paths = options.files;
  paths.insert(paths.end(), {options.common.config_path, options.environment_path, options.other_config_path});
  if (std::count(paths.begin(), paths.end(), "-") > 1) return "standard input (-) can be read only once";
  if (options.lint && options.common.format != OutputFormat::kText) return "--lint prints text only";
  const bool nothing_to_lint =
      options.files.empty() && options.common.config_path.empty() && options.environment_path.empty();
  if (options.lint && nothing_to_lint) return "--lint needs a file to check";
  if (!options.lint && options.files.empty() && !options.probe) return "no file is given; - reads standard input";
  return "";
}

int run(const Options& options, Output& output) {
  const CommonOptions& common = options.common;
  if (const std::string conflict = conflictOf(options); !conflict.empty()) {
    return refuseCommandLine("tent-explain", conflict);
  }
  if (options.lint) {
    std::vector<std::string> paths = options.files;
    if (!common.config_path.empty()) paths.push_back(common.config_path);
    if (!options.environment_path.empty()) paths.push_back(options.environment_path);
    return lintFiles(paths, common.quiet, output);
  }
  if (options.redaction == Redaction::kNone && !common.quiet) {
    std::fprintf(stderr, "warning: --redact none shows addresses and paths; do not pass the output on\n");
  }
  const Redactor redactor(options.redaction);
  if (options.files.empty()) {
    printEnvironment(probeThisMachine(common.quiet), common, redactor, output);
    return kExitOk;
  }
  return runFiles(options, redactor, output);
}

}  // namespace
}  // namespace tent::tool

int main(int argc, char** argv) {
  using namespace tent::tool;
  catchInterrupts();
  CLI::App app("Explain what the intents of a file would get, and why", "tent-explain");
  Options options;
  addCommonOptions(app, options.common);
  addOptions(app, options);
  if (const auto exit_code = parseCommandLine(app, argc, argv, options.common)) return *exit_code;

  Output output;
  return finish(output, "tent-explain", run(options, output));
}
