// The environment file (`schemas/environment.schema.json`): a saved inventory of two hosts to plan against.
#pragma once

#include "config/fault.h"
#include "config/json_value.h"
#include "inventory/environment.h"

namespace tent {

// Reads an environment from its parsed text. With an error in `faults` the result must not be used. Where the file says
// nothing, shm and tcp are built, the peer is reachable and on the same machine, and then has what `local` has.
Environment readEnvironment(const JsonValue& document, FaultList& faults);

}  // namespace tent
