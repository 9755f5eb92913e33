// Loading the files that the tools take, with every fault printed to standard error.
#pragma once

#include <optional>
#include <string>

#include "config/engine_config.h"
#include "config/fault.h"
#include "config/json_value.h"
#include "inventory/environment.h"

namespace tent::tool {

// Prints faults; with `quiet` only errors.
void printFaults(const FaultList& faults, bool quiet);

// The JSON value of a file ("-" is standard input); nothing when it is unreadable or not JSON, which `faults` then has.
std::optional<JsonValue> loadJson(const std::string& path, FaultList& faults);

// Loads a file of each kind; nothing when it is unreadable or malformed, which has then been
// printed.
std::optional<EngineConfig> loadEngineConfig(const std::string& path, bool quiet);
std::optional<Environment> loadEnvironment(const std::string& path, bool quiet);

}  // namespace tent::tool
