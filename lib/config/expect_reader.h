// Checks the `expect` of an intent vector against the shape of the result object: an expectation with a misspelt key or
// word would be met by nothing, or worse, by everything.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/json_value.h"

namespace tent {

void checkExpectation(const JsonValue& expect, const std::string& pointer, FaultList& faults);

}  // namespace tent
