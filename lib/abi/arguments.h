// What the functions of the C API check of their arguments alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "base/error.h"
#include "engine/engine.h"
#include "tent/transfer_engine.h"

namespace tent::abi {

// A pointer that is needed and was NULL: null_entries, as the API has no reason of its own for what are no entries; the
// message names it.
Error nullArgument(const char* name);
// The same for the memory functions: registration_failed, as all else that is wrong with memory.
Error nullMemoryArgument(const char* name);
Error nullEntries();

// Copies a text and its NUL. Too short a buffer gets what fits, terminated, and is an error that says what was needed.
Error copyText(const std::string& text, char* buffer, size_t size);

// The room that a caller gave for an output of `needed` elements: out_of_range, which says both.
Error tooShort(const char* what, Field field, size_t room, size_t needed);

// The options of a registration. registration_failed says which is wrong.
tl::expected<MemoryOptions, Error> readMemoryOptions(const tent_memory_options_t* options, const Engine& engine);
tl::expected<Permission, Error> readPermission(int permission);
// nullptr, "" and "*" are host memory.
tl::expected<MemoryLocation, Error> readLocation(const char* location);

// null_notification, notification_too_long. Looks at no more bytes than may be there.
tl::expected<Notification, Error> readNotification(const char* name, const char* message);

// `configured`: what the engine was configured with. unknown_flags: none of TENT_MODE_*, which has no reason of its
// own.
tl::expected<ValidationMode, Error> readMode(int32_t mode, std::optional<ValidationMode> configured);

// Whether `count` elements of `size` bytes fit into an address space: count_overflow.
Error checkCount(size_t count, size_t size);

}  // namespace tent::abi
