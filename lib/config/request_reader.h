// Reads the `request` of an intent vector: what a caller asks, as a file says it. Values that no enumeration has are
// kept as they are, when they are integers a caller could pass; whether a request is valid is not decided here.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/json_value.h"
#include "config/vectors.h"

namespace tent {

// Fills the fields, target and source of `out`, of which the surface is set. `clock_pinned`: an absolute deadline means
// something.
void readRequest(const JsonValue& value, const std::string& pointer, FaultList& faults, bool clock_pinned, Vector& out);

}  // namespace tent
