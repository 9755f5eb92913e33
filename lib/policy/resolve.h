// Requested -> effective: what a request gets under its tenant's contract and the transport policies, each value with
// the rule that set it (RFC "Requested versus effective intent"). Step 6 of the order of checks.
//
// Pure and free of allocation, except where a named policy or an error has to be reported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "intent/request.h"
#include "policy/contract.h"
#include "policy/transport_policy.h"

namespace tent {

enum class ExpiredAdmission : uint8_t { kSubmit, kReject };
std::string_view nameOf(ExpiredAdmission value);

// The part of an engine configuration that decides about requests. Immutable once built; EffectivePolicy refers into
// it.
struct PolicySet {
  ContractTable contracts{QosConfig{}};
  std::vector<TransportPolicy> transport_policies;
  std::vector<QpPool> qp_pools;
  std::optional<uint8_t> default_service_level;  // transports.rdma.endpoint.service_level
  std::optional<uint8_t> default_traffic_class;  // transports.rdma.endpoint.traffic_class
  ExpiredAdmission expired_admission = ExpiredAdmission::kSubmit;
  bool admission_configured = false;

  const QpPool* findPool(std::string_view name) const;
};

// Whose requests they are, looked up once for all of them. The contracts refer into the PolicySet.
struct Tenant {
  Tenant(const PolicyName& its_name, const PolicySet& policies)
      : name(its_name), contracts(policies.contracts.of(its_name)) {}
  PolicyName name;
  const TenantContracts& contracts;
};

enum class PriorityRule : uint8_t { kAsRequested, kContractCeiling, kDefaultCeiling, kCutToCeiling };
enum class TransportPolicyRule : uint8_t { kNamed, kFirstMatch, kNoneConfigured };
enum class RdmaValueRule : uint8_t { kUnset, kPolicyEntry, kQpPool, kEndpoint };

// What a request gets. Pointers refer to the PolicySet, which must outlive it.
struct EffectivePolicy {
  PolicyName tenant;
  IntentType intent_type = IntentType::kUnspec;
  Priority priority = Priority::kHigh;
  PriorityRule priority_rule = PriorityRule::kDefaultCeiling;
  const Contract* contract = nullptr;
  const TransportPolicy* transport_policy = nullptr;  // nullptr: none is configured
  TransportPolicyRule transport_policy_rule = TransportPolicyRule::kNoneConfigured;
  TransportList authorized_transports;  // the hint first; may name what is not built or not available
  bool transports_cut = false;          // the contract took some of the policy's transports away
  std::optional<uint8_t> service_level;
  RdmaValueRule service_level_rule = RdmaValueRule::kUnset;
  std::optional<uint8_t> traffic_class;
  RdmaValueRule traffic_class_rule = RdmaValueRule::kUnset;
  ExpiredAdmission admission = ExpiredAdmission::kSubmit;

  // nullptr where the entry names no pool.
  const std::string* qpPool() const {
    return transport_policy && transport_policy->qp_pool ? &*transport_policy->qp_pool : nullptr;
  }
};

// Resolves `requested` (fully normalized) for `tenant`. Adds what it changes to requested.downgrades. The first failure
// of step 6 is the result: policy_unknown, policy_unauthorized, priority_above_contract, no_transport,
// transport_not_built, hint_not_in_policy, hint_not_in_contract; hint_unavailable is the planner's. On failure `out` is
// unspecified. `built`: the transports that are there to authorize a hint for.
Error resolve(RequestedIntent& requested, const TransferShape& shape, const Tenant& tenant, const PolicySet& policies,
              TransportSet built, ValidationMode mode, EffectivePolicy& out);

}  // namespace tent
