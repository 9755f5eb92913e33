// Reads `transports.rdma` of an engine configuration, and the values of it that policies also have.
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

// Fills the slice size and the GID index of `plan`, and the pools and defaults of `policies`.
void readRdmaSection(ObjectReader& rdma, UnusedKeys& unused, PolicySet& policies, PlanSettings& plan);

}  // namespace tent
