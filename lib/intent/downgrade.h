// What compatibility mode, or a contract, changed in a request instead of rejecting it. Every change is recorded and
// can be seen; none is silent (RFC "Strict and compatibility modes").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "intent/values.h"

namespace tent {

enum class DowngradeReason : uint8_t {
  kUnknownIntentType,
  kUnknownPriority,
  kPolicyUnknown,
  kPolicyUnauthorized,
  kPriorityAboveContract,
  kFlagsIgnored,
  kTailIgnored,
};
inline constexpr int kDowngradeReasonCount = 7;

std::string_view nameOf(DowngradeReason reason);

// One recorded change. `from` and `to` depend on the reason:
//   unknown_intent_type, unknown_priority   from the integer given, to "unspec"
//   priority_above_contract                 from and to are RequestedPriority numbers (to the contract's ceiling)
//   policy_unknown, policy_unauthorized     from the requested name (kept in the request), to none
//   flags_ignored                           from the flags given, to 0
//   tail_ignored                            from the entry's struct_size, to none
struct Downgrade {
  Field field;
  DowngradeReason reason;
  uint64_t from;  // int32 values are sign-extended
  uint64_t to;
};

// At most one downgrade a field and reason, so the list is bounded and held in place.
class Downgrades {
 public:
  // The places stay unset until they are taken, as every request has them.
  Downgrades() {}  // NOLINT(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)
  void add(const Downgrade& downgrade) { items_[size_++] = downgrade; }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  const Downgrade* begin() const { return items_.data(); }
  const Downgrade* end() const { return items_.data() + size_; }

 private:
  std::array<Downgrade, kDowngradeReasonCount> items_;
  uint8_t size_ = 0;
};

}  // namespace tent
