// Copies to and from memory of this process that an application never registered, and that may therefore not be mapped:
// by way of the kernel, which tells so where a plain copy would end the process.
//
// Thread safety: any thread; as safe as the memory is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tent {

// Both return how many bytes were copied: fewer than `length` where the rest of `unknown` is not mapped, or not for
// this. The known side is mapped, and does not overlap the other.
uint64_t copyToUnknown(std::byte* unknown, const std::byte* known, uint64_t length);
uint64_t copyFromUnknown(std::byte* known, const std::byte* unknown, uint64_t length);

}  // namespace tent
