// The verdict about each vector of a file, before the first byte moves. Thread safety: none.
#pragma once

#include <string>

#include "tent-submit/job.h"

namespace tent::tool {

// Judges every entry against its peer; stops early when the process is interrupted.
void judge(Job& job);

// Why the job must not run although its file is good: a verdict, or a plan without the transport that is required. ""
// it may.
std::string objectionTo(const Job& job);

}  // namespace tent::tool
