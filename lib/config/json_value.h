// A JSON text as read, with the place of every value, and the reader that makes it.
//
// Stricter than JSON where silence would hide a mistake: duplicate keys, numbers beyond 64 bits, nesting over 64,
// invalid UTF-8, NaN and comments are faults. Integers keep all their 64 bits. A byte order mark at the start is
// accepted.
//
// Thread safety: values; parsing shares nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.h"

namespace tent {

inline constexpr size_t kMaxNesting = 64;
inline constexpr size_t kMaxDocumentBytes = 64u << 20;
inline constexpr size_t kMaxLineBytes = 1u << 20;
// Each value takes sizeof(JsonValue), so this bounds the memory of a document, however dense: under 1 GiB.
inline constexpr size_t kMaxValues = 4u << 20;

class JsonValue {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInteger, kUnsigned, kDouble, kString, kArray, kObject };
  struct Member;

  Kind kind = Kind::kNull;
  bool boolean = false;
  TextPosition position;          // of the value's first byte
  int64_t integer = 0;            // kInteger: a negative integer
  uint64_t unsigned_integer = 0;  // kUnsigned: an integer of 0 or more; -0 is 0
  double number = 0;              // kDouble: written with a fraction or an exponent
  std::string string;
  std::vector<JsonValue> items;
  std::vector<Member> members;  // in the order of the text; keys are unique

  const JsonValue* find(std::string_view key) const;  // of an object; nullptr when absent
};

struct JsonValue::Member {
  std::string key;
  TextPosition position;  // of the key
  JsonValue value;
};

std::string_view describe(JsonValue::Kind kind);  // "an object", "a string", "an integer", ...

// Parses `text`, which starts at line `first_line` of its file; a byte order mark is accepted at the start of line 1
// alone. Faults go to `faults`. The value is absent when the text is not JSON or goes beyond a limit on the nesting,
// the number of values or the range of a number; then exactly one fault says so, with the pointer of the innermost
// value reached. It is present otherwise, with each duplicate key (the first stays) and each integer beyond 64 bits (it
// becomes the nearest that fits) reported. Takes time and memory in proportion to the text; no recursion.
std::optional<JsonValue> parseJson(std::string_view text, FaultList& faults, size_t first_line = 1,
                                   size_t max_values = kMaxValues);

// Escapes one step of a JSON pointer (~0, ~1) and appends it with its slash.
std::string pointerTo(std::string_view parent, std::string_view key);
std::string pointerTo(std::string_view parent, size_t index);

}  // namespace tent
