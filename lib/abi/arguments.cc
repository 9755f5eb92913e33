#include "abi/arguments.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace tent::abi {
namespace {

Error badOption(std::string detail) {
  return {Reason::kRegistrationFailed, Field::kNone, -1, {}, std::move(detail)};
}

// A text in a fixed array, terminated or not.
template <size_t Size>
std::string_view textIn(const char (&array)[Size]) {
  return {array, strnlen(array, Size)};
}

tl::expected<MemoryLocation, Error> locationNamed(std::string_view name) {
  if (name.empty() || name == "*") return MemoryLocation{};
  if (const auto location = parseMemoryLocation(name)) return *location;
  return tl::unexpected(badOption(
      fmt::format("location \"{}\" is none: \"cpu\", \"cpu:N\" and \"cuda:N\" are", escapeForTerminal(name))));
}

}  // namespace

Error nullArgument(const char* name) {
  return errorSaying(Reason::kNullEntries, Field::kNone, {}, fmt::format("{} is NULL", name));
}

Error nullMemoryArgument(const char* name) {
  return errorOf(Reason::kRegistrationFailed, fmt::format("{} is NULL", name));
}

Error nullEntries() {
  return {Reason::kNullEntries, Field::kEntries, -1, {}, {}};
}

Error copyText(const std::string& text, char* buffer, size_t size) {
  if (buffer == nullptr) return nullArgument("buf");
  const size_t fits = size == 0 ? 0 : std::min(text.size(), size - 1);
  if (size > 0) {
    std::memcpy(buffer, text.data(), fits);
    buffer[fits] = '\0';
  }
  if (size > text.size()) return {};
  return tooShort("buffer", Field::kLength, size, text.size() + 1);
}

Error tooShort(const char* what, Field field, size_t room, size_t needed) {
  return errorSaying(Reason::kOutOfRange, field, uint64_t{room},
                     fmt::format("the {} is too short: it has room for {}, and {} are needed", what, room, needed));
}

tl::expected<Permission, Error> readPermission(int permission) {
  if (permission >= PERM_LOCAL_READ_WRITE && permission <= PERM_GLOBAL_READ_WRITE) {
    return static_cast<Permission>(permission);
  }
  return tl::unexpected(badOption(fmt::format("permission {} is none of PERM_*", permission)));
}

tl::expected<MemoryLocation, Error> readLocation(const char* location) {
  if (location == nullptr) return MemoryLocation{};
  constexpr size_t kLocationMax = sizeof(tent_memory_options_t::location);
  return locationNamed({location, strnlen(location, kLocationMax)});
}

tl::expected<MemoryOptions, Error> readMemoryOptions(const tent_memory_options_t* options, const Engine& engine) {
  if (options == nullptr) return tl::unexpected(nullMemoryArgument("options"));
  MemoryOptions read;
  auto location = locationNamed(textIn(options->location));
  if (!location) return tl::unexpected(std::move(location.error()));
  auto permission = readPermission(options->permission);
  if (!permission) return tl::unexpected(std::move(permission.error()));
  read.location = *location;
  read.permission = *permission;
  if (options->transport_type != TRANSPORT_UNSPEC) {
    const auto transports = engine.metrics().transports;
    const bool served = std::any_of(transports.begin(), transports.end(), [&](const auto& each) {
      return static_cast<int>(each.transport) == options->transport_type;
    });
    if (!served) {
      return tl::unexpected(
          badOption(fmt::format("transport_type {} is not served by this engine", options->transport_type)));
    }
  }
  if (!textIn(options->shm_path).empty() || options->shm_offset != 0) {
    return tl::unexpected(
        badOption("shm_path and shm_offset must be unset: the library makes its own shared memory for what it "
                  "allocates"));
  }
  if (options->internal != 0) return tl::unexpected(badOption("internal must be 0"));
  return read;
}

tl::expected<Notification, Error> readNotification(const char* name, const char* message) {
  if (name == nullptr || message == nullptr) {
    return tl::unexpected(errorSaying(Reason::kNullNotification, Field::kNotification, {},
                                      fmt::format("the {} of the notification is NULL; one without any is \"\"",
                                                  name == nullptr ? "name" : "message")));
  }
  // One byte more than allowed is enough to be refused by the engine.
  Notification read;
  read.name.assign(name, strnlen(name, Notification::kNameMax + 1));
  read.message.assign(message, strnlen(message, Notification::kMessageMax + 1));
  return read;
}

tl::expected<ValidationMode, Error> readMode(int32_t mode, std::optional<ValidationMode> configured) {
  switch (mode) {
    case TENT_MODE_CONFIGURED: return configured.value_or(ValidationMode::kStrict);
    case TENT_MODE_STRICT: return ValidationMode::kStrict;
    case TENT_MODE_COMPAT: return ValidationMode::kCompat;
    default:
      return tl::unexpected(errorSaying(Reason::kUnknownFlags, Field::kFlags, int64_t{mode},
                                        fmt::format("mode {} is none of TENT_MODE_*", mode)));
  }
}

Error checkCount(size_t count, size_t size) {
  if (count <= std::numeric_limits<size_t>::max() / size) return {};
  return errorSaying(Reason::kCountOverflow, Field::kCount, uint64_t{count},
                     fmt::format("count {}: so many elements are more than the address space holds", count));
}

}  // namespace tent::abi
