#include "inventory/memory.h"

#include <charconv>
#include <system_error>

namespace tent {
namespace {

std::optional<int> parseOrdinal(std::string_view text) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;  // one spelling a memory, so that names compare
  int ordinal = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, ordinal);
  if (error != std::errc{} || stop != end || ordinal < 0 || ordinal > kMaxMemoryOrdinal) return std::nullopt;
  return ordinal;
}

}  // namespace

std::string_view nameOf(MemoryKind kind) {
  return kind == MemoryKind::kCpu ? "cpu" : "cuda";
}

std::optional<MemoryLocation> parseMemoryLocation(std::string_view text) {
  if (text == "cpu") return MemoryLocation{};
  for (MemoryKind kind : {MemoryKind::kCpu, MemoryKind::kCuda}) {
    const std::string_view name = nameOf(kind);
    if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != ':') continue;
    const std::string_view digits = text.substr(name.size() + 1);
    if (digits.starts_with('-')) return std::nullopt;  // from_chars would take "-0"
    if (std::optional<int> ordinal = parseOrdinal(digits)) return MemoryLocation{kind, *ordinal};
  }
  return std::nullopt;
}

std::string toString(const MemoryLocation& location) {
  std::string text(nameOf(location.kind));
  if (location.ordinal >= 0) text += ':' + std::to_string(location.ordinal);
  return text;
}

std::string_view nameOf(Registration registration) {
  return registration == Registration::kApplication ? "application" : "allocated";
}

std::string_view nameOf(SegmentType type) {
  return type == SegmentType::kMemory ? "memory" : "file";
}

}  // namespace tent
