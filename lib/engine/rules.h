// What decides about an engine's requests and can be replaced while it runs. A submit takes the present rules and keeps
// to them; what it decided refers into them.
//
// Thread safety: immutable.
#pragma once

#include <cstdint>
#include <utility>

#include "intent/policy_name.h"
#include "policy/resolve.h"

namespace tent {

struct Rules {
  Rules(PolicySet its_policies, const PolicyName& tenant_name, uint64_t its_generation)
      : policies(std::move(its_policies)), tenant(tenant_name, policies), generation(its_generation) {}
  ~Rules() = default;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  const PolicySet policies;
  const Tenant tenant;
  const uint64_t generation;  // another one for each reload
};

}  // namespace tent
