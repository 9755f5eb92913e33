// What is wrong with a text that is not JSON, in a sentence, and at which byte. The parser knows only that it stopped;
// this looks again at the little that lies between the last token that was right and the fault.
//
// Thread safety: all functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tent {

// Where in the grammar a place is: what is open around it, and what may come next.
enum class JsonScope : uint8_t { kText, kArray, kObject };
enum class JsonExpected : uint8_t {
  kValue,
  kValueOrEnd,  // after "["
  kKey,
  kKeyOrEnd,    // after "{"
  kColon,       // after a key
  kCommaOrEnd,  // after an item or a member
  kNothing,     // after the whole value
};

struct JsonSyntaxFault {
  size_t offset = 0;
  JsonExpected expected = JsonExpected::kValue;  // at `offset`
  std::string message;
};

// Why `text`, without its byte order mark, is not JSON. All before `offset` is known to be right, and there, in
// `scope`, `expected` holds.
JsonSyntaxFault explainJsonSyntax(std::string_view text, size_t offset, JsonScope scope, JsonExpected expected);

// The offset after the number at `offset`, or of its first byte that is wrong or missing.
struct JsonNumber {
  size_t end = 0;
  bool valid = false;
  bool integer = true;  // no fraction, no exponent
};
JsonNumber scanJsonNumber(std::string_view text, size_t offset);

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// White space as JSON has it.
constexpr bool isJsonSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace tent
