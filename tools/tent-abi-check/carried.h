// Reads the description that a library carries (lib/abi/description.h): constants, macros, sizes and offsets.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "tent-abi-check/description.h"
#include "tent-abi-check/elf_file.h"

namespace tent::tool {

// Fills in the structs, constants, macros and names of functions. The result says what is malformed; "" nothing is.
std::string readCarried(const ElfFile& library, Description& description);

// The same of this program, which is built with the header too.
Description ownLayout();

}  // namespace tent::tool
