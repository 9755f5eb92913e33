// What this build is and contains.
#pragma once

#include <string>

#include "intent/values.h"

namespace tent::tool {

// "tent-explain 0.1.0" with the build, the linked libraries' versions, and the transports that are built in.
std::string versionText(const std::string& tool);

TransportSet builtTransports();

}  // namespace tent::tool
