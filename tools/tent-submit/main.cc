// tent-submit: runs a file of intent vectors for real, and verifies the bytes at their destination; or serves as the
// target of such a run.
#include "common/command_line.h"
#include "common/exit_code.h"
#include "common/interrupt.h"
#include "common/load.h"
#include "common/output.h"
#include "tent-submit/options.h"
#include "tent-submit/serve.h"
#include "tent-submit/submit.h"

namespace tent::tool {
namespace {

int run(const Options& options, Output& output) {
  if (const std::string conflict = conflictOf(options); !conflict.empty()) {
    return refuseCommandLine("tent-submit", conflict);
  }
  std::optional<EngineConfig> config = EngineConfig{};
  if (!options.common.config_path.empty()) config = loadEngineConfig(options.common.config_path, options.common.quiet);
  if (config) applyToken(options, config->auth);
  if (!options.serve) return submitFile(options, std::move(config), output);
  return config ? serve(options, *std::move(config), output) : kExitInput;
}

}  // namespace
}  // namespace tent::tool

int main(int argc, char** argv) {
  using namespace tent::tool;
  catchInterrupts();
  CLI::App app("Run the intents of a file, and verify the bytes at their destination", "tent-submit");
  Options options;
  addCommonOptions(app, options.common);
  addOptions(app, options);
  if (const auto exit_code = parseCommandLine(app, argc, argv, options.common)) return *exit_code;

  Output output;
  return finish(output, "tent-submit", run(options, output));
}
