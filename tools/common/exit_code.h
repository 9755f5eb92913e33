// The exit codes that all tools share.
#pragma once

namespace tent::tool {

enum ExitCode : int {
  kExitOk = 0,
  kExitNo = 1,             // the answer is no: a vector rejected, an expectation not met, a difference found
  kExitUsage = 2,          // wrong usage
  kExitInput = 3,          // an input is unreadable or malformed
  kExitEnvironment = 4,    // the environment: cannot bind, peer unreachable, no device, output cannot be written
  kExitInterrupted = 130,  // SIGINT or SIGTERM; what was done until then is reported
};

}  // namespace tent::tool
