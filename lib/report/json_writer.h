// Writes JSON as a stream of values, so that a result of any length needs no tree in memory and keys stand in the order
// in which they are written. Numbers are integers, or doubles that are finite; strings are UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tent {

class JsonWriter {
 public:
  // Appends to `out`, which must outlive the writer.
  explicit JsonWriter(std::string& out) : out_(out) {}

  void beginObject() { begin('{'); }
  void endObject() { end('}'); }
  void beginArray() { begin('['); }
  void endArray() { end(']'); }
  // Of an object, before its value.
  void key(std::string_view name);

  void null();
  void boolean(bool value);
  void integer(int64_t value);
  void unsignedInteger(uint64_t value);
  void number(double value);
  // Bytes that are not UTF-8 become U+FFFD; what would act on a terminal is escaped.
  void string(std::string_view value);

  // A line break before the next value or end, for people who read or diff the output.
  void breakLine() { break_line_ = true; }

  // key and value in one.
  void field(std::string_view name, std::string_view value) { key(name), string(value); }
  void field(std::string_view name, const char* value) { key(name), string(value); }
  void field(std::string_view name, uint64_t value) { key(name), unsignedInteger(value); }
  void nullField(std::string_view name) { key(name), null(); }

 private:
  void begin(char bracket);
  void end(char bracket);
  void separate();
  void quote(std::string_view value);

  std::string& out_;
  bool first_ = true;  // nothing written yet in the innermost container
  bool after_key_ = false;
  bool break_line_ = false;
};

}  // namespace tent
