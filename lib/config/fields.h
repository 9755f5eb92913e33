// Reading the fields of a JSON object with every fault reported: wrong kinds, values out of range, unknown and misspelt
// keys.
//
// A reader asks for the keys it knows, one by one; at the end `finish` reports each key that nobody asked for, with
// "did you mean" where one is near. A getter that finds a fault reports it and gives nothing, so that reading goes on
// and one run finds all faults.
//
// Lifetime: the value and the fault list outlive the reader; what getters point to belongs to the value. Thread safety:
// none; a reader belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.h"
#include "config/json_value.h"

namespace tent {

enum class UnknownKeys : uint8_t { kError, kWarning, kIgnore };

class ObjectReader {
 public:
  // `value` that is no object is reported at once; all getters then give nothing.
  ObjectReader(const JsonValue& value, std::string pointer, FaultList& faults);

  // The raw value of a key, marked as known; nullptr when absent.
  const JsonValue* take(std::string_view key);

  // Typed getters: nothing when absent or faulty. null counts as a fault. The ranges include both ends.
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::string> string(std::string_view key);
  std::optional<int64_t> integer(std::string_view key, int64_t min, int64_t max);
  std::optional<uint64_t> unsignedInteger(std::string_view key, uint64_t min, uint64_t max);
  std::optional<uint64_t> size(std::string_view key);  // an integer of bytes, or "4KiB"
  std::optional<double> number(std::string_view key, double min, double max);
  // One of `names`; the result is its index.
  std::optional<size_t> oneOf(std::string_view key, std::span<const std::string_view> names);
  // The items of an array, for a further reader.
  const std::vector<JsonValue>* array(std::string_view key);

  // A key that must be there; reports when it is absent.
  void require(std::string_view key);

  // Reports a fault at a key's value, or at the object where the key is absent.
  void fault(std::string_view key, std::string message);
  void warn(std::string_view key, std::string message);

  // Reports the keys that no getter asked for, each at the key.
  void finish(UnknownKeys unknown);
  // The keys that no getter asked for, in the order of the text.
  std::vector<std::string> unknownKeys() const;

  std::string pointerOf(std::string_view key) const;
  const std::string& pointer() const { return pointer_; }
  FaultList& faults() { return faults_; }

 private:
  const JsonValue* takeKind(std::string_view key, JsonValue::Kind kind);
  void wrongKind(const JsonValue& value, std::string_view key, std::string_view expected);

  const JsonValue* object_ = nullptr;
  TextPosition position_;
  std::string pointer_;
  FaultList& faults_;
  // The keys asked for, one after the other with a NUL after each: one string, as a reader is made for each of very
  // many objects. Beside it, for each member of the object, whether it was asked for.
  std::string known_;
  std::vector<bool> taken_;
};

}  // namespace tent
