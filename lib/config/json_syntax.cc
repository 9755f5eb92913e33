#include "config/json_syntax.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace tent {
namespace {

constexpr std::array<std::string_view, 3> kLiterals{"true", "false", "null"};
constexpr size_t kEscapeBytes = 6;  // of \uXXXX

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isHexDigit(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool isWordCharacter(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
unsigned byteOf(char c) {
  return static_cast<unsigned char>(c);
}

// Moves `offset` past the digits there; whether there is one.
bool skipDigits(std::string_view text, size_t& offset) {
  const size_t start = offset;
  while (offset < text.size() && isDigit(text[offset])) ++offset;
  return offset > start;
}

std::string_view wordAt(std::string_view text, size_t offset) {
  size_t end = offset;
  while (end < text.size() && isWordCharacter(text[end])) ++end;
  return text.substr(offset, end - offset);
}

// Whether `tail`, the end of a text, is the beginning of one UTF-8 character whose rest is missing.
bool isCutCharacter(std::string_view tail) {
  const unsigned lead = byteOf(tail.front());
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return lead >= 0xc2 && lead <= 0xf4 && tail.size() < bytes &&
         std::all_of(tail.begin() + 1, tail.end(), [](char c) { return (byteOf(c) & 0xc0u) == 0x80u; });
}

class Explainer {
 public:
  Explainer(std::string_view text, size_t offset, JsonScope scope, JsonExpected expected)
      : text_(text), offset_(offset), start_(offset), scope_(scope), expected_(expected) {}

  JsonSyntaxFault explain() {
    std::string message = findFault();
    return {offset_, expected_, std::move(message)};
  }

 private:
  bool atEnd() const { return offset_ >= text_.size(); }
  char here() const { return text_[offset_]; }

  std::string findFault() {
    // At most a separator and one token lie between the last good token and the fault.
    while (true) {
      while (!atEnd() && isJsonSpace(here())) ++offset_;
      if (atEnd()) return ended();
      const char separator = expected_ == JsonExpected::kCommaOrEnd ? ',' : expected_ == JsonExpected::kColon ? ':' : 0;
      if (separator == 0 || here() != separator) break;
      const bool key_next = separator == ',' && scope_ == JsonScope::kObject;
      expected_ = key_next ? JsonExpected::kKey : JsonExpected::kValue;
      ++offset_;
      after_comma_ = separator == ',';
    }
    switch (expected_) {
      case JsonExpected::kValue:
      case JsonExpected::kValueOrEnd: return valueFault();
      case JsonExpected::kKey:
      case JsonExpected::kKeyOrEnd: return here() == '"' ? stringFault() : unexpected("a key in double quotes");
      case JsonExpected::kColon: return unexpected("':' after the key");
      case JsonExpected::kCommaOrEnd: return unexpected(scope_ == JsonScope::kObject ? "',' or '}'" : "',' or ']'");
      case JsonExpected::kNothing: return unexpected("the end of the text");
    }
    return "this is not JSON";
  }

  std::string ended() const {
    if (scope_ == JsonScope::kText) return "the text is empty, where a JSON value is expected";
    return endedInside(scope_ == JsonScope::kObject ? "an object" : "an array");
  }

  static std::string endedInside(std::string_view what) {
    return fmt::format("the text ends inside {}; is it truncated?", what);
  }

  std::string valueFault() {
    expected_ = JsonExpected::kValue;
    if (here() == '"') return stringFault();
    if (here() == '-' || isDigit(here())) return numberFault();
    const std::string_view word = wordAt(text_, offset_);
    if (word.empty()) return unexpected("a value");
    if (offset_ + word.size() == text_.size()) {
      for (const std::string_view literal : kLiterals) {
        if (!literal.starts_with(word)) continue;
        offset_ = text_.size();
        return endedInside(fmt::format("\"{}\"", literal));
      }
    }
    const std::string lower = toLowerAscii(word);
    if (lower == "nan" || lower == "inf" || lower == "infinity") return fmt::format("{} is not JSON", word);
    return fmt::format("expected a value, found the word {}; strings take double quotes",
                       quoteWithSuggestion(word, kLiterals));
  }

  std::string numberFault() {
    const bool negative = here() == '-';
    const JsonNumber number = scanJsonNumber(text_, offset_);
    if (number.valid) {
      // The parser takes every well-formed number but those that overflow.
      return number.integer ? "the integer does not fit 64 bits" : "the number is too large for a double";
    }
    const size_t start = std::exchange(offset_, number.end);
    if (atEnd()) return endedInside("a number");
    if (std::string fault = badByte(); !fault.empty()) return fault;
    const std::string_view word = wordAt(text_, offset_);
    if (negative && number.end == start + 1 && toLowerAscii(word).starts_with("inf")) {
      offset_ = start;
      return fmt::format("-{} is not JSON", word);
    }
    return fmt::format("expected a digit, found {}", found());
  }

  std::string stringFault() {
    const size_t invalid = offset_ + findInvalidUtf8(text_.substr(offset_)).value_or(text_.size() - offset_);
    for (++offset_; offset_ < invalid; ++offset_) {
      const char c = here();
      if (c == '"') return "this string is not JSON";
      if (c == '\n') return "the line ends inside a string; is a closing quote missing?";
      if (c == '\0') return badByte();
      if (byteOf(c) < 0x20) {
        return fmt::format("the control character 0x{0:02x} inside a string; write \\u{0:04x}", byteOf(c));
      }
      if (c != '\\') continue;
      if (std::string fault = skipEscape(); !fault.empty()) return fault;
    }
    if (atEnd() || isCutCharacter(text_.substr(offset_))) {
      offset_ = text_.size();
      return endedInside("a string");
    }
    return badByte();
  }

  // Goes to the last byte of the escape that starts here; its fault, at the backslash, or "".
  std::string skipEscape() {
    const std::string_view rest = text_.substr(offset_);
    if (rest.size() < 2) return endInEscape();
    if (rest[1] != 'u') {
      if (std::string_view("\"\\/bfnrt").find(rest[1]) == std::string_view::npos) {
        ++offset_;
        if (std::string fault = badByte(); !fault.empty()) return fault;
        const std::string escape = found();
        --offset_;
        return fmt::format("unknown escape: a backslash before {}; write \\\\ for a backslash", escape);
      }
      ++offset_;
      return {};
    }
    uint32_t code = 0;
    if (std::string fault = readUnicodeEscape(rest, code); !fault.empty()) return fault;
    if (code >= 0xdc00 && code <= 0xdfff) return halfPair(rest);
    if (code >= 0xd800 && code <= 0xdbff) {
      const std::string_view second = rest.substr(kEscapeBytes);
      if (second.size() < 2 && std::string_view("\\u").starts_with(second)) return endInEscape();
      if (!second.starts_with("\\u")) return halfPair(rest);
      if (std::string fault = readUnicodeEscape(second, code); !fault.empty()) {
        if (!atEnd()) offset_ += kEscapeBytes;
        return fault;
      }
      if (code < 0xdc00 || code > 0xdfff) return halfPair(rest);
      offset_ += kEscapeBytes;
    }
    offset_ += kEscapeBytes - 1;
    return {};
  }

  std::string readUnicodeEscape(std::string_view rest, uint32_t& code) {
    code = 0;
    for (size_t i = 2; i < kEscapeBytes; ++i) {
      if (i == rest.size()) return endInEscape();
      if (!isHexDigit(rest[i])) return "\\u takes four hexadecimal digits";
      const unsigned digit = isDigit(rest[i]) ? byteOf(rest[i]) - '0' : (byteOf(rest[i]) | 0x20u) - 'a' + 10;
      code = code * 16 + digit;
    }
    return {};
  }

  std::string endInEscape() {
    offset_ = text_.size();
    return endedInside("a string");
  }

  static std::string halfPair(std::string_view escape) {
    return fmt::format("{} is half of a surrogate pair; write both halves", escape.substr(0, kEscapeBytes));
  }

  // The byte here where it may stand nowhere in a text, else "".
  std::string badByte() const {
    if (here() == '\0') return "a NUL byte";
    if (findInvalidUtf8(text_.substr(offset_)) == 0u)
      return fmt::format("the invalid UTF-8 byte 0x{:02x}", byteOf(here()));
    return {};
  }

  std::string unexpected(std::string_view wanted) const {
    if (std::string fault = badByte(); !fault.empty()) return fault;
    if (text_.substr(offset_).starts_with(kByteOrderMark))
      return "a byte order mark; only the start of a file may have one";
    const char c = here();
    const bool wants_value = expected_ == JsonExpected::kValue;
    const bool wants_key = expected_ == JsonExpected::kKey || expected_ == JsonExpected::kKeyOrEnd;
    if (after_comma_ && ((wants_value && c == ']') || (wants_key && c == '}'))) {
      return fmt::format("a comma before '{}'; the last comma must go", c);
    }
    if (c == '#' || text_.substr(offset_).starts_with("//") || text_.substr(offset_).starts_with("/*")) {
      return "a comment; JSON has none";
    }
    if ((wants_value || wants_key) && c == '\'') return "a single quote; strings take double quotes";
    if (wants_value && (c == '+' || c == '.')) return fmt::format("a number must not start with '{}'", c);
    const bool after_number = offset_ == start_ && offset_ > 0 && text_[offset_ - 1] == '0';
    if (after_number && isDigit(c)) return "a number must not start with 0";
    if (expected_ == JsonExpected::kNothing) return fmt::format("text after the end of the JSON value: {}", found());
    return fmt::format("expected {}, found {}", wanted, found());
  }

  // The token here, for a sentence.
  std::string found() const {
    const char c = here();
    if (c == '"') return "a string";
    if (c == '-' || isDigit(c)) return "a number";
    if (const std::string_view word = wordAt(text_, offset_); !word.empty()) return quoteWithSuggestion(word, {});
    if (byteOf(c) < 0x20 || c == 0x7f) return fmt::format("the control character 0x{:02x}", byteOf(c));
    size_t bytes = 1;
    while (offset_ + bytes < text_.size() && (byteOf(text_[offset_ + bytes]) & 0xc0u) == 0x80u) ++bytes;
    return fmt::format("'{}'", text_.substr(offset_, bytes));
  }

  const std::string_view text_;
  size_t offset_;
  const size_t start_;
  const JsonScope scope_;
  JsonExpected expected_;
  bool after_comma_ = false;
};

}  // namespace

JsonSyntaxFault explainJsonSyntax(std::string_view text, size_t offset, JsonScope scope, JsonExpected expected) {
  return Explainer(text, offset, scope, expected).explain();
}

JsonNumber scanJsonNumber(std::string_view text, size_t offset) {
  const auto is = [&](char c) { return offset < text.size() && text[offset] == c; };
  JsonNumber number;
  if (is('-')) ++offset;
  bool valid = true;
  if (is('0')) {
    ++offset;  // a further digit belongs to no number
  } else {
    valid = skipDigits(text, offset);
  }
  if (valid && is('.')) {
    number.integer = false;
    ++offset;
    valid = skipDigits(text, offset);
  }
  if (valid && (is('e') || is('E'))) {
    number.integer = false;
    ++offset;
    if (is('+') || is('-')) ++offset;
    valid = skipDigits(text, offset);
  }
  number.end = offset;
  number.valid = valid;
  return number;
}

}  // namespace tent
