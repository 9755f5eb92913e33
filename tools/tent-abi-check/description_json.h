// Descriptions as files (schemas/abi-description.schema.json): what `dump` writes, a baseline keeps and `diff` reads.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "tent-abi-check/describe.h"
#include "tent-abi-check/description.h"

namespace tent::tool {

// One document, with a line for each symbol, member and constant, so that a change of a baseline reads well.
std::string descriptionText(const Description& description);

// Of that, what its checksum is of. It is part of the format: what is written otherwise needs another schema_version.
std::string contentText(const Description& description);

// A file that is unreadable, malformed or contradicts itself is refused; its faults are printed.
tl::expected<Description, Failure> readDescriptionFile(const std::string& path);

}  // namespace tent::tool
