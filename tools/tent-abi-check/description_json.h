// Descriptions as files (schemas/abi-description.schema.json): what `dump` writes, a baseline keeps and `diff` reads.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "config/fault.h"
#include "config/json_value.h"
#include "tent-abi-check/describe.h"
#include "tent-abi-check/description.h"

namespace tent::tool {

// One document, with a line for each symbol, member and constant, so that a change of a baseline reads well.
std::string descriptionText(const Description& description);

// Of that, what its checksum is of. It is part of the format: what is written otherwise needs another schema_version.
std::string contentText(const Description& description);

// A document that is malformed, or contradicts itself or its checksum, is a fault; what could be read is returned.
Description readDescription(const JsonValue& document, FaultList& faults);

// A file that is unreadable, malformed or contradicts itself is refused; its faults are printed.
tl::expected<Description, Failure> readDescriptionFile(const std::string& path);

}  // namespace tent::tool
