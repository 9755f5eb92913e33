// What this process may do with ranges of its own address space, as far as that can be known before they are touched.
//
// Thread safety: any thread. What is told holds until another thread changes a mapping.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/backend.h"

namespace tent {

// What all of the range allows; kNone also where a part of it is not mapped. Reads the list of mappings up to the
// range's end, a microsecond or so each. Where there is no such list (/proc/self/maps) the caller's word is taken:
// kReadWrite.
Access accessOfRange(const std::byte* data, uint64_t length);

// Whether all of the range is mapped, for whatever use: one short system call, however long the range is.
bool isMapped(const std::byte* data, uint64_t length);

}  // namespace tent
