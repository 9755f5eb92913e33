// Sizes and durations as files and command lines write them. Thread safety: all functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace tent {

// Bytes of "4096", "4KiB", "4KB", "4K", "4B": a whole number and an optional unit, without space or sign. K, M, G and T
// are 1024-based in every spelling, as the field has it; lower case is accepted. The error is a sentence that quotes
// the text and says how to write it.
tl::expected<uint64_t, std::string> parseSize(std::string_view text);

// "5ms", "250us", "10ns", "2s", "3min", "1h": a whole number and its unit, in either case; the unit is required.
// Nanoseconds. Above 2^64-1 ns: an error.
tl::expected<uint64_t, std::string> parseDuration(std::string_view text);

// "4 MiB", "65537 B": exact, the largest unit that divides.
std::string formatSize(uint64_t bytes);
// "5 ms", "1.000000001 s": exact, in the largest of ns, us, ms and s that is not above it.
std::string formatDuration(uint64_t ns);

}  // namespace tent
