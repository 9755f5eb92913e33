// --probe: what this machine has, as far as this build can tell.
#pragma once

#include "common/options.h"
#include "common/output.h"
#include "inventory/environment.h"
#include "report/redact.h"

namespace tent::tool {

// The live environment with a peer on this machine. What could not be found out is printed to standard error, unless
// quiet.
Environment probeThisMachine(bool quiet);

void printEnvironment(const Environment& environment, const CommonOptions& options, const Redactor& redactor,
                      Output& output);

}  // namespace tent::tool
