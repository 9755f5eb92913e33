#include "transport/mapped_memory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <sys/mman.h>

#include "base/fd.h"
#include "base/system_calls.h"

namespace tent {
namespace {

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  Access access = Access::kNone;
};

// "7f0000000000-7f0000001000 rw-p ..."
std::optional<Mapping> mappingIn(std::string_view line) {
  Mapping mapping;
  const char* const last = line.data() + line.size();
  const auto begin = std::from_chars(line.data(), last, mapping.begin, 16);
  if (begin.ec != std::errc() || begin.ptr == last || *begin.ptr != '-') return std::nullopt;
  const auto end = std::from_chars(begin.ptr + 1, last, mapping.end, 16);
  if (end.ec != std::errc() || last - end.ptr < 3) return std::nullopt;
  if (end.ptr[1] == 'r') mapping.access = end.ptr[2] == 'w' ? Access::kReadWrite : Access::kRead;
  return mapping;
}

// Calls `visit` for the mappings in the order of their addresses, for as long as it says so. False: there is no list.
template <typename Visit>
bool forEachMapping(Visit visit) {
  const Fd maps(systemCalls().open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!maps) return false;
  std::array<char, 16384> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
  std::string text;
  while (true) {
    const ssize_t got = systemCalls().read(maps.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    text.append(bytes.data(), static_cast<size_t>(got));
    size_t line = 0;
    for (size_t end = 0; (end = text.find('\n', line)) != std::string::npos; line = end + 1) {
      const auto mapping = mappingIn(std::string_view(text).substr(line, end - line));
      if (!mapping) return false;
      if (!visit(*mapping)) return true;
    }
    text.erase(0, line);
  }
}

}  // namespace

Access accessOfRange(const std::byte* data, uint64_t length) {
  uint64_t at = reinterpret_cast<uintptr_t>(data);
  const uint64_t end = at + length;
  Access access = Access::kReadWrite;
  const bool listed = forEachMapping([&](const Mapping& mapping) {
    if (mapping.end <= at) return true;
    if (mapping.begin > at) return false;
    access = std::min(access, mapping.access);
    at = mapping.end;
    return at < end;
  });
  return !listed || at >= end ? access : Access::kNone;
}

bool isMapped(const std::byte* data, uint64_t length) {
  static const auto kPage = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t offset = reinterpret_cast<uintptr_t>(data) % kPage;
  // It has nothing to write for this flag, and looks only whether there is a mapping.
  const int rc = msync(const_cast<std::byte*>(data - offset), length + offset, MS_ASYNC);  // NOLINT(*-const-cast)
  return rc == 0 || errno != ENOMEM;
}

}  // namespace tent
