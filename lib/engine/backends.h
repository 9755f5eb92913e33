// The backends of this build, made as a configuration wants them. The one place that knows them all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "config/engine_config.h"
#include "intent/values.h"
#include "transport/backend.h"
#include "transport/loop.h"

namespace tent {

TransportSet builtBackends();

// Those that the configuration does not disable. `bind_address`: numeric, of the control channel.
tl::expected<std::vector<std::unique_ptr<Backend>>, Error> makeBackends(Loop& loop, const EngineConfig& config,
                                                                        const std::string& bind_address);

}  // namespace tent
