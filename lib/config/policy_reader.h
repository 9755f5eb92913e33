// Reads `policy` of an engine configuration: the transport policies. Nothing in it may be unknown, and no entry may
// become broader than it was written.
#pragma once

#include <string>
#include <vector>

#include "config/fields.h"
#include "policy/transport_policy.h"

namespace tent {

// Reads the array at `key`. Entries are held against `pools`: a contradiction is an error, a missing pool a warning.
std::vector<TransportPolicy> readTransportPolicies(ObjectReader& object, std::string_view key,
                                                   const std::vector<QpPool>& pools);

}  // namespace tent
