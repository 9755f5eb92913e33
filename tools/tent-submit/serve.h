// --serve: memory that other tent-submits read from and write to.
#pragma once

#include "common/output.h"
#include "config/engine_config.h"
#include "tent-submit/options.h"

namespace tent::tool {

// Serves until the process is interrupted. Returns an exit code; what is wrong is printed to standard error.
int serve(const Options& options, EngineConfig config, Output& output);

}  // namespace tent::tool
