// Whether a description that was read is all of what was written: nothing left out, nothing twice, nothing changed by
// hand. A part that is gone would be taken for one that was never promised.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

#include "config/fields.h"
#include "tent-abi-check/description.h"

namespace tent::tool {

// In hexadecimal, of the content as descriptionText writes it: of a description that is read again it is the same,
// however the file was indented.
std::string checksumOf(std::string_view content);

// Adds a fault for each list that is never empty and is, and for each element that is there twice.
void checkWhole(const Description& description, ObjectReader& object);

}  // namespace tent::tool
