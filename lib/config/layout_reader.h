// Reads the `layout` of an intent vector: what the C entry claims about itself, however wrong.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/json_value.h"
#include "config/vectors.h"

namespace tent {

EntryClaim readLayout(const JsonValue& value, const std::string& pointer, FaultList& faults);

}  // namespace tent
