// The configuration that a thread gathers for the next engine it creates: a file or a text, and single keys over it.
//
// Thread safety: each thread has its own.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "base/error.h"
#include "config/engine_config.h"

namespace tent::abi {

// `source`: a path, or a JSON text when its first byte that is not a space is '{'; nullptr becomes an error of take.
void setConfigSource(const char* source);
void setConfigKey(const char* key, const char* value);

// Reads a configuration from such a source. bad_configuration: the first fault with its place.
tl::expected<EngineConfig, Error> readConfig(const std::string& source);

// Reads what was gathered and forgets it. bad_configuration: the first fault with its place.
tl::expected<EngineConfig, Error> takeConfig();

}  // namespace tent::abi
