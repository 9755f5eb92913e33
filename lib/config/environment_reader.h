// The environment file (`schemas/environment.schema.json`): a saved inventory of two hosts to plan against.
#pragma once

#include "config/fault.h"
#include "config/json_value.h"
#include "inventory/environment.h"

namespace tent {

// Reads an environment from its parsed text. With an error in `faults` the result must not be used. Where the file says
// nothing, shm and tcp are built and the peer is reachable. A peer that is not described is this host itself: on the
// same machine, with what `local` has.
Environment readEnvironment(const JsonValue& document, FaultList& faults);

}  // namespace tent
