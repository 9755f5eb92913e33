// A file from reading to report. Thread safety: none; called from the main thread (own_target.h).
#pragma once

#include <optional>

#include "common/output.h"
#include "config/engine_config.h"
#include "tent-submit/options.h"

namespace tent::tool {

// `config` is absent where it could not be loaded, which has then been told. Returns an exit code. The report goes to
// `output`, complete in every case; what is wrong with the input or the environment also to standard error.
int submitFile(const Options& options, std::optional<EngineConfig> config, Output& output);

}  // namespace tent::tool
