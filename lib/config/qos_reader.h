// Reads `qos` of an engine configuration: the contracts of the tenants. Nothing in it may be unknown.
#pragma once

#include <string>

#include "config/fault.h"
#include "config/json_value.h"
#include "policy/contract.h"

namespace tent {

QosConfig readQos(const JsonValue& value, const std::string& pointer, FaultList& faults);

}  // namespace tent
