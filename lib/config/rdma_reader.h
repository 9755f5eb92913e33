// Reads `transports` of an engine configuration: which are switched off, and what the rdma transport is set up with.
#pragma once

#include <optional>

#include "config/fields.h"
#include "config/unused_keys.h"
#include "plan/planner.h"
#include "policy/resolve.h"

namespace tent {

// 0 to 15, and 0 to 255.
std::optional<uint8_t> readServiceLevel(ObjectReader& object, std::string_view key);
std::optional<uint8_t> readTrafficClass(ObjectReader& object, std::string_view key);

// Fills the disabled transports, the slice size and the GID index of `plan`, and the pools and defaults of `policies`.
void readTransportSections(const JsonValue& value, const std::string& pointer, FaultList& faults, UnusedKeys& unused,
                           PolicySet& policies, PlanSettings& plan);

}  // namespace tent
