// The commands of tent-abi-check. Each appends to the output what it has to say, and returns the exit code.
#pragma once

#include "common/output.h"
#include "tent-abi-check/describe.h"
#include "tent-abi-check/options.h"

namespace tent::tool {

int runLibrary(const Options& options, Output& output);
int dumpLibrary(const Options& options, Output& output);
int diffLibraries(const Options& options, Output& output);
int printLayout(const Options& options, Output& output);

// Prints why a command ends early. Returns its exit code, or that of an interruption where there was one.
int refuse(const Failure& failure);

// The same, and as a report where one for programs was asked for: a CI shows that, and not what went to standard error.
int refuse(const Failure& failure, Report report, const Options& options, Output& output);

}  // namespace tent::tool
