// Copies within this process between memory that may not be mapped: by way of the kernel, which tells so where a plain
// copy would end the process. Slower than that, most of all when little is copied: several microseconds a call.
//
// Thread safety: any thread; as safe as the memory is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace tent {

// Both return how many bytes were copied: fewer than `length` where the rest of either side is not mapped, or not for
// this, or where the kernel forbids such copies (errno is EPERM or ENOSYS then). The sides do not overlap.
uint64_t copyToUnknown(std::byte* unknown, const std::byte* known, uint64_t length);
uint64_t copyFromUnknown(std::byte* known, const std::byte* unknown, uint64_t length);

// The same for sides that may overlap, either way.
uint64_t moveUnknown(std::byte* to, const std::byte* from, uint64_t length);

// What to tell of a copy that ended after `moved` bytes, by its errno.
Error uncopied(uint64_t moved, int error);

}  // namespace tent
