// What a failed system call means: as a sentence for people, and as the reason of an error. That something has run out
// is neither a peer's fault nor a setting's, wherever it shows first, and is always told with what to do about it.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tent {

// Whether the process or the machine has run out of descriptors or memory.
bool isExhaustion(int error);

// "No such file or directory"; "Too many open files: raise the limit of this process (ulimit -n)".
std::string describeSystemError(int error);

// "WHAT: " and the description. The reason is resource_exhausted where something has run out, else `otherwise`.
Error errorOfSystem(Reason otherwise, std::string_view what, int error);

}  // namespace tent
