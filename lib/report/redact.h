// What of an output is hidden or replaced before it leaves the host (RFC "policy_name": redact or pseudonymize).
//
//   default  hides virtual addresses, keys, host bits of GIDs and file paths
//   strict   also pseudonymizes hosts, addresses, devices, tenants and policy names: consistently within one output,
//   with a
//            salt of its own each run, so that two outputs cannot be joined
//   none     shows all of that; for use on the spot. Secrets are never shown, whatever the level.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "inventory/environment.h"
#include "inventory/gid.h"
#include "plan/plan.h"

namespace tent {

enum class Redaction : uint8_t { kDefault, kStrict, kNone };
std::string_view nameOf(Redaction level);

class Redactor {
 public:
  // Draws the salt. Throws std::runtime_error where the system has no randomness.
  explicit Redactor(Redaction level);

  Redaction level() const { return level_; }

  std::string tenant(std::string_view name) const { return pseudonym("tenant", name); }
  std::string policy(std::string_view name) const { return pseudonym("policy", name); }
  std::string device(std::string_view name) const { return pseudonym("device", name); }
  std::string host(std::string_view name) const { return pseudonym("host", name); }
  // "<tenant>.default", "<tenant>.<intent>", or one of the two names without a tenant.
  std::string matchedPolicy(std::string_view name) const;

  // By default without its host bits: the last 8 of an IPv4-mapped address, the last 64 of any other. In strict a
  // pseudonym.
  GidAddress gid(const GidAddress& address) const;

  // The environment with its addresses redacted; names stay, for the order of equal devices depends on them.
  Environment environment(const Environment& environment) const;
  // A sentence about a redacted environment: by default its shortened addresses are marked ("10.1.2.x", "fe80::/64"),
  // in strict the names of the environment's devices are replaced.
  std::string sentence(std::string_view text, const Environment& environment) const;

  // The error's value as it may be shown.
  ErrorValue value(const Error& error) const;
  std::string message(const Error& error) const;
  std::string message(const Rejected& rejected) const;

 private:
  using Digest = std::array<uint8_t, 5>;
  Digest digest(std::string_view kind, std::string_view name) const;
  std::string pseudonym(std::string_view kind, std::string_view name) const;

  Redaction level_;
  std::array<unsigned char, 32> salt_{};
};

}  // namespace tent
