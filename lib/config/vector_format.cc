#include <algorithm>
#include <array>

#include "config/key_scanner.h"
#include "config/vectors.h"

namespace tent {
namespace {

// mode and tenant are keys of both.
constexpr std::array<std::string_view, 3> kDocumentKeys{"schema_version", "clock", "vectors"};
constexpr std::array<std::string_view, 6> kVectorKeys{"name", "surface", "request", "layout", "repeat", "expect"};

std::optional<VectorFormat> formatOfKey(std::string_view key) {
  if (std::ranges::find(kDocumentKeys, key) != kDocumentKeys.end()) return VectorFormat::kDocument;
  if (std::ranges::find(kVectorKeys, key) != kVectorKeys.end()) return VectorFormat::kNdjson;
  return std::nullopt;
}

}  // namespace

tl::expected<VectorFormat, std::string> sniffVectorFormat(Input& input) {
  if (input.name().ends_with(".ndjson") || input.name().ends_with(".jsonl")) return VectorFormat::kNdjson;
  KeyScanner scanner;
  // A FIFO's writer may wait for an answer to its first line: one byte more than is known is all that may be asked for.
  // A line longer than the limit is no vector, so looking further would tell nothing.
  for (size_t want = 1; want <= kMaxLineBytes;) {
    const tl::expected<std::string_view, std::string> text = input.peek(want);
    if (!text) return tl::make_unexpected(text.error());
    while (const std::optional<std::string_view> key = scanner.nextKey(*text)) {
      if (const std::optional<VectorFormat> format = formatOfKey(*key)) return *format;
    }
    const bool at_end = text->size() < want;
    if (at_end || scanner.state() == KeyScanner::State::kEnded) break;
    want = text->size() + 1;
  }
  return VectorFormat::kDocument;
}

}  // namespace tent
