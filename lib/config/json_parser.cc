// parseJson: nlohmann's lexer and grammar, with a tree that keeps places. Their events carry none, so the iterator that
// feeds them tells how far they have read, and each token's place follows from that.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/json_syntax.h"
#include "config/json_value.h"

namespace tent {
namespace {

// From this many keys on, an object's duplicates are found by hashing; below, looking through them is faster.
constexpr size_t kHashedKeys = 17;

// Reads characters and leaves the place after the last one in `*reached`.
class TracingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TracingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  TracingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  TracingIterator operator++(int) {
    TracingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TracingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TracingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, FaultList& faults, size_t first_line, size_t max_values)
      : text_(text), faults_(faults), max_values_(max_values), line_(first_line), reached_(text.data()) {
    frames_.reserve(kMaxNesting);
  }

  std::optional<JsonValue> build() {
    const TracingIterator first(text_.data(), &reached_);
    const TracingIterator last(text_.data() + text_.size(), &reached_);
    // The library skips a byte order mark, of which text_ has been freed, and takes a NUL byte for the end.
    if (text_.starts_with(kByteOrderMark.front())) {
      reportSyntax();
      return std::nullopt;
    }
    if (!nlohmann::json::sax_parse(first, last, this)) return std::nullopt;
    const std::string_view rest = text_.substr(end_);
    if (!std::all_of(rest.begin(), rest.end(), isJsonSpace)) {
      reportSyntax();
      return std::nullopt;
    }
    return std::move(root_);
  }

  // The library's SAX interface. False stops the parsing.
  // NOLINTBEGIN(readability-identifier-naming): the names are the library's
  bool null() {
    return leaf(JsonValue::Kind::kNull, [](JsonValue&) {});
  }

  bool boolean(bool value) {
    return leaf(JsonValue::Kind::kBool, [&](JsonValue& v) { v.boolean = value; });
  }

  bool number_integer(int64_t value) {
    if (value == 0) return number_unsigned(0);
    return numberLeaf(JsonValue::Kind::kInteger, [&](JsonValue& v) { v.integer = value; });
  }

  bool number_unsigned(uint64_t value) {
    return numberLeaf(JsonValue::Kind::kUnsigned, [&](JsonValue& v) { v.unsigned_integer = value; });
  }

  // An integer beyond 64 bits comes here too.
  bool number_float(double value, const std::string& written) {
    if (written.find_first_of(".eE") != std::string::npos) {
      return numberLeaf(JsonValue::Kind::kDouble, [&](JsonValue& v) { v.number = value; });
    }
    const auto kind = value < 0 ? JsonValue::Kind::kInteger : JsonValue::Kind::kUnsigned;
    return numberLeaf(kind, [&](JsonValue& v) {
      v.integer = value < 0 ? std::numeric_limits<int64_t>::min() : 0;
      v.unsigned_integer = value < 0 ? 0 : std::numeric_limits<uint64_t>::max();
      faults_.error(v.position, pointerOfNewest(), "the integer does not fit 64 bits");
    });
  }

  bool string(std::string& value) {
    return leaf(JsonValue::Kind::kString, [&](JsonValue& v) { v.string = std::move(value); });
  }

  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }

  bool start_object(size_t /*elements*/) { return open(JsonValue::Kind::kObject); }
  bool start_array(size_t /*elements*/) { return open(JsonValue::Kind::kArray); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    const TextPosition position = tokenPosition();
    Frame& frame = frames_.back();
    dropDuplicate(frame);
    const size_t first_line = noteKey(frame, name, position.line);
    frame.value->members.push_back({std::move(name), position, {}});
    if (first_line != 0) {
      frame.last_is_duplicate = true;
      faults_.error(position, pointerOfNewest(), fmt::format("duplicate key; the first is in line {}", first_line));
    }
    after_key_ = true;
    end_ = offsetReached();
    return true;
  }

  bool parse_error(size_t /*offset*/, const std::string& /*token*/, const nlohmann::json::exception& /*error*/) {
    reportSyntax();
    return false;
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  struct Frame {
    JsonValue* value;
    bool last_is_duplicate = false;                     // the last member goes once it was read
    std::unordered_map<std::string, size_t> key_lines;  // empty below kHashedKeys
  };

  size_t offsetReached() const { return static_cast<size_t>(reached_ - text_.data()); }

  // Goes from the last token to the one just read, and says where that starts. Only here can lines end.
  TextPosition tokenPosition() {
    while (isJsonSpace(text_[end_]) || text_[end_] == ',' || text_[end_] == ':') {
      if (text_[end_++] == '\n') startLine(end_);
    }
    return {line_, end_ - line_start_ + 1};
  }

  void startLine(size_t offset) {
    ++line_;
    line_start_ = offset;
  }

  // A new value at the token just read; nullptr, reported, beyond a limit.
  JsonValue* add(JsonValue::Kind kind) {
    JsonValue* value = &root_;
    if (!frames_.empty()) {
      JsonValue& parent = *frames_.back().value;
      value = parent.kind == JsonValue::Kind::kArray ? &parent.items.emplace_back() : &parent.members.back().value;
    }
    after_key_ = false;
    value->kind = kind;
    value->position = tokenPosition();
    if (++values_ <= max_values_) return value;
    faults_.error(value->position, pointerOfNewest(), fmt::format("more than {} values in one text", max_values_));
    return nullptr;
  }

  template <typename Fill>
  bool leaf(JsonValue::Kind kind, const Fill& fill) {
    JsonValue* value = add(kind);
    if (value == nullptr) return false;
    fill(*value);
    end_ = offsetReached();
    return true;
  }

  // A number's end shows only in the character after it, which has been read unless the text ends.
  template <typename Fill>
  bool numberLeaf(JsonValue::Kind kind, const Fill& fill) {
    JsonValue* value = add(kind);
    if (value == nullptr) return false;
    fill(*value);
    end_ = scanJsonNumber(text_, end_).end;
    return true;
  }

  bool open(JsonValue::Kind kind) {
    JsonValue* value = add(kind);
    if (value == nullptr) return false;
    if (frames_.size() == kMaxNesting) {
      faults_.error(value->position, pointerOfNewest(), fmt::format("nested deeper than {}", kMaxNesting));
      return false;
    }
    frames_.push_back({value, false, {}});
    end_ = offsetReached();
    return true;
  }

  bool close() {
    tokenPosition();
    dropDuplicate(frames_.back());
    frames_.pop_back();
    end_ = offsetReached();
    return true;
  }

  static void dropDuplicate(Frame& frame) {
    if (std::exchange(frame.last_is_duplicate, false)) frame.value->members.pop_back();
  }

  // The line of an earlier key of this name, else 0.
  static size_t noteKey(Frame& frame, const std::string& name, size_t line) {
    const auto& members = frame.value->members;
    if (members.size() + 1 < kHashedKeys) {
      for (const JsonValue::Member& member : members) {
        if (member.key == name) return member.position.line;
      }
      return 0;
    }
    if (frame.key_lines.empty()) {
      for (const JsonValue::Member& member : members) frame.key_lines.emplace(member.key, member.position.line);
    }
    const auto [entry, is_new] = frame.key_lines.emplace(name, line);
    return is_new ? 0 : entry->second;
  }

  // Of the innermost open object or array.
  std::string pointerOfInnermost() const { return pointerOfPath(frames_.empty() ? 0 : frames_.size() - 1); }
  // Of the value, or its key, that was read last.
  std::string pointerOfNewest() const { return pointerOfPath(frames_.size()); }

  std::string pointerOfPath(size_t steps) const {
    std::string pointer;
    for (size_t i = 0; i < steps; ++i) {
      const JsonValue& container = *frames_[i].value;
      pointer = container.kind == JsonValue::Kind::kArray ? pointerTo(pointer, container.items.size() - 1)
                                                          : pointerTo(pointer, container.members.back().key);
    }
    return pointer;
  }

  std::pair<JsonScope, JsonExpected> state() const {
    if (frames_.empty()) return {JsonScope::kText, values_ == 0 ? JsonExpected::kValue : JsonExpected::kNothing};
    const JsonValue& container = *frames_.back().value;
    if (container.kind == JsonValue::Kind::kArray) {
      return {JsonScope::kArray, container.items.empty() ? JsonExpected::kValueOrEnd : JsonExpected::kCommaOrEnd};
    }
    if (after_key_) return {JsonScope::kObject, JsonExpected::kColon};
    return {JsonScope::kObject, container.members.empty() ? JsonExpected::kKeyOrEnd : JsonExpected::kCommaOrEnd};
  }

  void reportSyntax() {
    const auto [scope, expected] = state();
    JsonSyntaxFault fault = explainJsonSyntax(text_, end_, scope, expected);
    const size_t offset = std::min(fault.offset, text_.size());
    for (; end_ < offset; ++end_) {
      if (text_[end_] == '\n') startLine(end_ + 1);
    }
    const bool at_value = fault.expected == JsonExpected::kValue;
    std::string pointer = pointerOfInnermost();
    if (at_value && scope == JsonScope::kArray) {
      pointer = pointerTo(pointer, frames_.back().value->items.size());
    } else if (at_value && scope == JsonScope::kObject) {
      pointer = pointerOfNewest();
    }
    faults_.error({line_, offset - line_start_ + 1}, std::move(pointer), std::move(fault.message));
  }

  const std::string_view text_;
  FaultList& faults_;
  const size_t max_values_;
  JsonValue root_;
  std::vector<Frame> frames_;  // the open arrays and objects, which stay in place as only the innermost grows
  size_t values_ = 0;
  bool after_key_ = false;
  size_t end_ = 0;  // after the last token
  size_t line_;
  size_t line_start_ = 0;
  const char* reached_;
};

}  // namespace

std::optional<JsonValue> parseJson(std::string_view text, FaultList& faults, size_t first_line, size_t max_values) {
  if (first_line == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return TreeBuilder(text, faults, first_line, max_values).build();
}

}  // namespace tent
