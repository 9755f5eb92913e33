#include "report/json_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace tent {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

constexpr auto kIsPlain = [](char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
};

void appendEscaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

// Most text has nothing to escape: whole runs are copied.
void appendRuns(std::string& out, std::string_view text) {
  while (true) {
    const auto end = std::find_if_not(text.begin(), text.end(), kIsPlain);
    out.append(text.begin(), end);
    if (end == text.end()) return;
    appendEscaped(out, *end);
    text = {end + 1, text.end()};
  }
}

// The code point at the start of UTF-8 text where it acts on a terminal: C1 controls and bidirectional formatting. 0:
// none.
unsigned terminalControlAt(std::string_view text) {
  const auto byte = [text](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
  if (byte(0) == 0xc2) return byte(1) < 0xa0 ? byte(1) : 0;
  if (byte(0) != 0xe2) return 0;
  const unsigned code = 0x2000 + (byte(1) & 0x3f) * 64 + (byte(2) & 0x3f);
  const bool formatting =
      code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return formatting ? code : 0;
}

// Text that is UTF-8: such controls are escaped, which every reader of JSON takes for the same.
void appendUtf8(std::string& out, std::string_view text) {
  constexpr std::string_view kLeadBytes = "\xc2\xe2";  // of all controls
  while (true) {
    const size_t at = std::min(text.find_first_of(kLeadBytes), text.size());
    appendRuns(out, text.substr(0, at));
    text.remove_prefix(at);
    if (text.empty()) return;
    const unsigned code = terminalControlAt(text);
    if (code != 0) fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    if (code == 0) out += text.front();
    text.remove_prefix(code == 0 ? 1 : code < 0x800 ? 2 : 3);
  }
}

bool isAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) out_ += ',';
  if (break_line_) out_ += '\n';
  break_line_ = false;
  first_ = false;
}

void JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
}

void JsonWriter::end(char bracket) {
  if (break_line_) out_ += '\n';
  break_line_ = false;
  out_ += bracket;
  first_ = false;
}

void JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
  after_key_ = true;
}

void JsonWriter::null() {
  separate();
  out_ += "null";
}

void JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::integer(int64_t value) {
  separate();
  const fmt::format_int text(value);
  out_.append(text.data(), text.size());
}

void JsonWriter::unsignedInteger(uint64_t value) {
  separate();
  const fmt::format_int text(value);
  out_.append(text.data(), text.size());
}

void JsonWriter::number(double value) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void JsonWriter::string(std::string_view value) {
  separate();
  quote(value);
}

void JsonWriter::quote(std::string_view value) {
  out_ += '"';
  if (isAscii(value)) {
    appendRuns(out_, value);
    value = {};
  }
  while (!value.empty()) {
    const size_t valid = findInvalidUtf8(value).value_or(value.size());
    appendUtf8(out_, value.substr(0, valid));
    if (valid == value.size()) break;
    out_ += kReplacement;
    value.remove_prefix(valid + 1);
  }
  out_ += '"';
}

}  // namespace tent
