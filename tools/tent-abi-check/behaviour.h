// The behaviour matrix: what a library must answer, each check by its name. A check runs in a process of its own, so it
// may crash, hang and leave engines behind.
//
// A check returns what it has seen, and throws Unmet where the library does something else. Thread safety: none.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "tent-abi-check/api.h"

namespace tent::tool {

class Unmet : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A check that cannot be made here, and why; and one that is met in a way that is worth a word.
class Skipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class Dubious : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Needs : uint8_t { kNothing, kLegacy, kV1 };  // the functions without which a check is skipped

struct BehaviourCheck {
  const char* name;
  Needs needs;
  std::string (*run)(const Api& api);
};

std::span<const BehaviourCheck> symbolChecks();
std::span<const BehaviourCheck> entryChecks();
std::span<const BehaviourCheck> valueChecks();
std::span<const BehaviourCheck> callChecks();
std::span<const BehaviourCheck> legacyChecks();
std::span<const BehaviourCheck> notificationChecks();

}  // namespace tent::tool
