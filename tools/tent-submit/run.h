// Carries out what was judged. Thread safety: none.
#pragma once

#include "tent-submit/job.h"

namespace tent::tool {

// Runs the accepted entries wave by wave in the order of their effective priority, and sets the execution of each. Ends
// early, with the reason in job.stopped, when the time is over or the process is interrupted.
void runJob(Job& job);

}  // namespace tent::tool
