// The option structs of v1: size-first and append-only (convention 4 of the header).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tl/expected.hpp>

#include "base/error.h"
#include "intent/values.h"
#include "tent/transfer_engine.h"

namespace tent::abi {

// The caller's options over `defaults`; nullptr is the defaults. `minimum`: the bytes that every version has.
template <typename Options>
tl::expected<Options, Error> readOptions(const Options* given, Options defaults, size_t minimum) {
  if (given == nullptr) return defaults;
  uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  const auto wrong = [size](Reason reason, const char* detail) {
    return tl::unexpected(Error{reason, Field::kStructSize, -1, uint64_t{size}, detail});
  };
  constexpr uint32_t kSizeMax = 4096;
  if (size < minimum) return wrong(Reason::kStructSizeTooSmall, "of the options: set it to sizeof the struct");
  if (size > kSizeMax) return wrong(Reason::kStructSizeTooLarge, "of the options: set it to sizeof the struct");
  std::memcpy(&defaults, given, std::min<size_t>(size, sizeof defaults));
  if (size > sizeof defaults) {
    const auto* const tail = reinterpret_cast<const unsigned char*>(given) + sizeof defaults;
    const bool zero = std::all_of(tail, tail + (size - sizeof defaults), [](unsigned char byte) { return byte == 0; });
    if (!zero) return wrong(Reason::kReservedNonzero, "the options hold what this library does not know");
  }
  return defaults;
}

// `configured`: what the engine was configured with. unknown_flags: none of TENT_MODE_*, which has no reason of its
// own.
inline tl::expected<ValidationMode, Error> readMode(int32_t mode, std::optional<ValidationMode> configured) {
  switch (mode) {
    case TENT_MODE_CONFIGURED: return configured.value_or(ValidationMode::kStrict);
    case TENT_MODE_STRICT: return ValidationMode::kStrict;
    case TENT_MODE_COMPAT: return ValidationMode::kCompat;
    default:
      return tl::unexpected(
          Error{Reason::kUnknownFlags, Field::kFlags, -1, int64_t{mode}, "the mode is none of TENT_MODE_*"});
  }
}

}  // namespace tent::abi
