#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace tent {
namespace {

constexpr size_t kQuotedBytes = 80;

struct Character {
  size_t bytes = 0;  // 0: not UTF-8
  uint32_t code_point = 0;
};

uint8_t byteAt(std::string_view text, size_t offset) {
  return static_cast<uint8_t>(text[offset]);
}

// The character at the beginning of `text`, which is not empty. The ranges of the second byte exclude overlong forms,
// surrogates and what lies above U+10FFFF (RFC 3629, section 4).
Character decode(std::string_view text) {
  const uint8_t lead = byteAt(text, 0);
  if (lead < 0x80) return {1, lead};
  size_t bytes = 0;
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xbf;
  uint32_t code_point = 0;
  if (lead >= 0xc2 && lead <= 0xdf) {
    bytes = 2;
    code_point = lead & 0x1fu;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    bytes = 3;
    code_point = lead & 0x0fu;
    if (lead == 0xe0) second_min = 0xa0;
    if (lead == 0xed) second_max = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    bytes = 4;
    code_point = lead & 0x07u;
    if (lead == 0xf0) second_min = 0x90;
    if (lead == 0xf4) second_max = 0x8f;
  }
  if (bytes == 0 || text.size() < bytes) return {};
  for (size_t i = 1; i < bytes; ++i) {
    const uint8_t next = byteAt(text, i);
    const uint8_t min = i == 1 ? second_min : 0x80;
    const uint8_t max = i == 1 ? second_max : 0xbf;
    if (next < min || next > max) return {};
    code_point = (code_point << 6) | (next & 0x3fu);
  }
  return {bytes, code_point};
}

// What a terminal would act on, or what would show text in another order or on another line than it has.
bool isUnsafe(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point <= 0x9f) || code_point == 0x061c ||
         code_point == 0x200e || code_point == 0x200f || (code_point >= 0x2028 && code_point <= 0x202e) ||
         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0xfeff;
}

char lowerAscii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool isSpaceAscii(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// The Damerau-Levenshtein distance in which no letter is edited twice, so that three rows of the matrix are enough.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> didYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const size_t limit = word.size() / 3;
  std::optional<std::string_view> best;
  size_t best_distance = limit + 1;
  for (const std::string_view candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter >= best_distance) continue;
    const size_t found = distance(toLowerAscii(word), toLowerAscii(candidate));
    if (found >= best_distance) continue;
    best = candidate;
    best_distance = found;
  }
  return best;
}

std::string quoteWithSuggestion(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string quoted = shorten(word, kQuotedBytes);
  const auto meant = didYouMean(word, candidates);
  return meant ? fmt::format("\"{}\" (did you mean \"{}\"?)", quoted, *meant) : fmt::format("\"{}\"", quoted);
}

std::string shorten(std::string_view text, size_t max_bytes) {
  constexpr std::string_view kMark = "...";
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes > kMark.size() ? max_bytes - kMark.size() : 0;
  while (end > 0 && (byteAt(text, end) & 0xc0u) == 0x80u) --end;
  return std::string(text.substr(0, end)).append(kMark);
}

std::string escapeForTerminal(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const Character character = decode(text);
    const size_t bytes = std::max<size_t>(character.bytes, 1);
    if (character.bytes == 0 || (character.bytes == 1 && isUnsafe(character.code_point))) {
      fmt::format_to(std::back_inserter(safe), "\\x{:02x}", byteAt(text, 0));
    } else if (isUnsafe(character.code_point)) {
      fmt::format_to(std::back_inserter(safe), "\\u{:04x}", character.code_point);
    } else {
      safe.append(text.substr(0, bytes));
    }
    text.remove_prefix(bytes);
  }
  return safe;
}

std::optional<size_t> findInvalidUtf8(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    const size_t bytes = decode(text.substr(offset)).bytes;
    if (bytes == 0) return offset;
    offset += bytes;
  }
  return std::nullopt;
}

std::string toLowerAscii(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), lowerAscii);
  return lower;
}

std::string_view trimAscii(std::string_view text) {
  while (!text.empty() && isSpaceAscii(text.front())) text.remove_prefix(1);
  while (!text.empty() && isSpaceAscii(text.back())) text.remove_suffix(1);
  return text;
}

std::string toHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    hex.push_back(kDigits[value >> 4]);
    hex.push_back(kDigits[value & 15]);
  }
  return hex;
}

std::optional<std::string> fromHex(std::string_view hex) {
  const auto digit = [](char c) -> std::optional<unsigned> {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
  };
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const auto high = digit(hex[i]);
    const auto low = digit(hex[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<char>(*high << 4 | *low));
  }
  return bytes;
}

}  // namespace tent
