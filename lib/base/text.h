// Text as it comes from files and goes to terminals. Thread safety: all functions are pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tent {

// The candidate that `word` most likely meant: at most a third of its letters away, ignoring case; nothing when none
// is. A letter added, left out, replaced, or swapped with its neighbour is one away. Of equally near ones, the first.
std::optional<std::string_view> didYouMean(std::string_view word, std::span<const std::string_view> candidates);

// `word` quoted and, where a candidate is near, the suggestion: "\"rmda\" (did you mean \"rdma\"?)". A very long word
// is shortened.
std::string quoteWithSuggestion(std::string_view word, std::span<const std::string_view> candidates);

// `text` where it has at most `max_bytes`, else its beginning and "...", together at most `max_bytes` (at least 3).
// Never splits a character.
std::string shorten(std::string_view text, size_t max_bytes);

// Makes text from outside safe for a terminal and a log line: control characters, escapes, line separators, invalid
// UTF-8 and bidirectional overrides are written as \xNN or \uNNNN.
std::string escapeForTerminal(std::string_view text);

// The offset of the first byte that is not UTF-8 (RFC 3629: no overlong forms, no surrogates), which is the first byte
// of a broken sequence; nothing when all is.
std::optional<size_t> findInvalidUtf8(std::string_view text);

// ASCII only; other bytes stay.
std::string toLowerAscii(std::string_view text);
std::string_view trimAscii(std::string_view text);

// Bytes as two hexadecimal digits each, lower case; read in either case, nothing when it is something else.
std::string toHex(std::string_view bytes);
std::optional<std::string> fromHex(std::string_view hex);

}  // namespace tent
