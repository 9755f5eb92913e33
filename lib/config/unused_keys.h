// The keys of an engine configuration that this build does not use: what deployments have for parts that are not here,
// and what nobody knows. They do not fail a load, but they are named, and a deployed key must still have its type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace tent {

class UnusedKeys {
 public:
  // Takes the keys of `object` that no getter asked for. A deployed key of the wrong type is an error. `used` are the
  // keys that were asked for, to suggest one of them for a misspelt key.
  void collect(ObjectReader& object, std::vector<std::string_view> used = {});

  // Names all of them in one warning.
  void report(TextPosition position, FaultList& faults);

 private:
  std::vector<std::string> unused_;   // pointers of deployed keys
  std::vector<std::string> unknown_;  // pointers of others, with a suggestion where there is one
};

}  // namespace tent
