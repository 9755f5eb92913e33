// Reads `transports` of an engine configuration: which are switched off, and what each is set up with.
#pragma once

#include <string>

#include "config/engine_config.h"
#include "config/fault.h"
#include "config/json_value.h"
#include "config/unused_keys.h"

namespace tent {

void readTransportSections(const JsonValue& value, const std::string& pointer, FaultList& faults, UnusedKeys& unused,
                           EngineConfig& config);

}  // namespace tent
