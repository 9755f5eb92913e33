// Fields that several formats have: lists of names, transports, and the priorities of configurations.
//
// Like the getters of ObjectReader: nothing when the key is absent or its value is faulty, the faults being reported.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "intent/policy_name.h"
#include "intent/values.h"
#include "inventory/memory.h"

namespace tent {

// What is wrong with one string of a list; nothing when it may stand there.
using StringCheck = std::function<std::optional<std::string>(const std::string&)>;

// An array of strings, none of them empty and none there twice.
std::optional<std::vector<std::string>> readStrings(ObjectReader& object, std::string_view key,
                                                    const StringCheck& check = {});

// A string that is not empty.
std::optional<std::string> readNonEmptyString(ObjectReader& object, std::string_view key);

// One of `values` by its name.
template <typename Enum, size_t Count>
std::optional<Enum> readNamed(ObjectReader& object, std::string_view key, const std::array<Enum, Count>& values) {
  std::array<std::string_view, Count> names;
  for (size_t i = 0; i < Count; ++i) names[i] = nameOf(values[i]);
  const std::optional<size_t> index = object.oneOf(key, names);
  if (!index) return std::nullopt;
  return values[*index];
}

// Transports by name, without unspec.
std::optional<TransportList> readTransports(ObjectReader& object, std::string_view key);
std::optional<TransportSet> readTransportSet(ObjectReader& object, std::string_view key);

// A name in any case, an integer 0 to 2, or "0" to "2".
std::optional<Priority> readConfigPriority(ObjectReader& object, std::string_view key);

// A tenant's name, normalized.
std::optional<PolicyName> readTenant(ObjectReader& object, std::string_view key);

// "cpu", "cpu:0", "cuda:0", ...
std::optional<MemoryLocation> readMemoryLocation(ObjectReader& object, std::string_view key);

// strict | compat.
std::optional<ValidationMode> readMode(ObjectReader& object, std::string_view key);

// Requires the key, as the version 1 of its format.
void readSchemaVersion(ObjectReader& object);

// The names of all transports but unspec, which chooses none.
std::span<const std::string_view> transportNames();

// Reports a null anywhere in a value that no reader looks into: no configuration may have one.
void rejectNulls(const JsonValue& value, const std::string& pointer, FaultList& faults);

// Finds values that are there twice, and says so at the second.
class Uniqueness {
 public:
  explicit Uniqueness(std::string what) : what_(std::move(what)) {}
  // Whether `value`, read from `key` of `object`, is the first of its kind; a fault is reported where not.
  bool first(ObjectReader& object, std::string_view key, const std::string& value);

 private:
  std::string what_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace tent
