#include "config/key_scanner.h"

#include "config/json_syntax.h"

namespace tent {
namespace {

bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

std::optional<std::string_view> KeyScanner::nextKey(std::string_view text) {
  while (state_ == State::kReading && at_ < text.size()) {
    if (step(text)) return text.substr(string_begin_, at_ - 1 - string_begin_);
  }
  return std::nullopt;
}

// Reads one byte; whether it was the quote that ends a key.
bool KeyScanner::step(std::string_view text) {
  const size_t here = at_++;
  const char c = text[here];
  if (in_string_) {
    const bool ends = c == '"' && !escaped_;
    escaped_ = c == '\\' && !escaped_;
    if (ends) in_string_ = false;
    return ends && is_key_;
  }
  if (depth_ == 0) {
    const bool mark = here < kByteOrderMark.size() && c == kByteOrderMark[here];
    if (c == '{') {
      depth_ = 1;
      expects_key_ = true;
    } else if (!isSpace(c) && !mark) {
      state_ = State::kEnded;
    }
    return false;
  }
  switch (c) {
    case '"':
      in_string_ = true;
      is_key_ = expects_key_;
      expects_key_ = false;
      string_begin_ = at_;
      break;
    case '{':
    case '[': ++depth_; break;
    case '}':
    case ']':
      if (--depth_ == 0) state_ = State::kEnded;
      break;
    case ',': expects_key_ = depth_ == 1; break;
    default: break;
  }
  return false;
}

}  // namespace tent
