#include "intent/policy_name.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace tent {
namespace {

bool isAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Reason checkPolicyName(std::string_view name) {
  if (name.empty()) return Reason::kPolicyEmpty;
  if (name.size() > kPolicyNameMax) return Reason::kPolicyTooLong;
  if (!isAlphanumeric(name.front())) return Reason::kPolicyBadCharacter;
  const bool all_allowed = std::all_of(name.begin() + 1, name.end(),
                                       [](char c) { return isAlphanumeric(c) || c == '.' || c == '_' || c == '-'; });
  return all_allowed ? Reason::kNone : Reason::kPolicyBadCharacter;
}

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): as in the default constructor
PolicyName::PolicyName(std::string_view name) : size_(static_cast<uint8_t>(name.size())) {
  std::copy(name.begin(), name.end(), bytes_.begin());
}

std::optional<PolicyName> normalizeTenant(std::string_view name) {
  const std::string lower = toLowerAscii(trimAscii(name));
  if (lower.empty()) return PolicyName{"default"};
  if (checkPolicyName(lower) != Reason::kNone) return std::nullopt;
  return PolicyName{lower};
}

}  // namespace tent
