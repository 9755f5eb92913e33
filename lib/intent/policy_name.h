// A policy name as a request, a contract or a tenant may carry it: 1 to 127 bytes, first [A-Za-z0-9], then
// [A-Za-z0-9._-] (RFC "policy_name": bounded, restricted ASCII, copied before the submit function returns).
//
// Held in place: copying a request's name never allocates and never depends on the caller's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace tent {

inline constexpr size_t kPolicyNameMax = 127;  // bytes

// What is wrong with a name: kPolicyEmpty, kPolicyTooLong, kPolicyBadCharacter, in that order; kNone when nothing is.
Reason checkPolicyName(std::string_view name);

class PolicyName {
 public:
  // The empty value stands for "no name"; a valid name is never empty. The bytes stay unset: every request has a name's
  // place, and clearing it would cost more than all checks together.
  PolicyName() {}  // NOLINT(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)

  // Copies 1 to kPolicyNameMax bytes, which are checked where they come from outside (checkPolicyName).
  explicit PolicyName(std::string_view name);

  std::string_view view() const { return {bytes_.data(), size_}; }
  bool empty() const { return size_ == 0; }
  friend bool operator==(const PolicyName& a, const PolicyName& b) { return a.view() == b.view(); }

 private:
  std::array<char, kPolicyNameMax> bytes_;
  uint8_t size_ = 0;
};

// A tenant's name normalized: trimmed and lower-cased (ASCII), empty becomes "default"; nothing when what remains
// breaks the grammar of policy names.
std::optional<PolicyName> normalizeTenant(std::string_view name);

}  // namespace tent
