// --lint: checks files of every kind without planning.
#pragma once

#include <string>
#include <vector>

#include "common/output.h"

namespace tent::tool {

// Checks each file for what its content says it is: intent vectors, an environment, or an engine configuration. Prints
// the faults, warnings too unless `quiet`, and one line per good file. Returns an exit code.
int lintFiles(const std::vector<std::string>& paths, bool quiet, Output& output);

}  // namespace tent::tool
