#include "policy/resolve.h"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

namespace tent {
namespace {

static_assert(std::is_trivially_destructible_v<EffectivePolicy>);  // it is made anew in place

// What happens to a name that is unknown or not allowed: the contract's word, or else the mode's.
bool rejectsUnauthorized(const Contract& contract, ValidationMode mode) {
  if (contract.on_unauthorized.value) return *contract.on_unauthorized.value == OnUnauthorized::kReject;
  return mode == ValidationMode::kStrict;
}

bool allowsPolicy(const Contract& contract, std::string_view name) {
  const auto& allowed = contract.allowed_policies.value;
  return !allowed || std::find(allowed->begin(), allowed->end(), name) != allowed->end();
}

// Each step fills its part of `out`; false: `error` says why not. An error as a return value of each would cost more
// than what they do.
bool fail(Error& error, Error what) {
  error = std::move(what);
  return false;
}

// Finds the entry that the request names. Nothing found without an error: none was named, or the name was downgraded.
bool takeNamedPolicy(RequestedIntent& requested, const TransferShape& shape, const PolicySet& policies,
                     ValidationMode mode, EffectivePolicy& out, Error& error) {
  if (requested.policy_name.empty()) return true;
  const std::string_view name = requested.policy_name.view();
  const TransportPolicy* policy = findTransportPolicy(policies.transport_policies, shape.segment_type, name);
  if (policy != nullptr && allowsPolicy(*out.contract, name)) {
    out.transport_policy = policy;
    out.transport_policy_rule = TransportPolicyRule::kNamed;
    return true;
  }
  if (rejectsUnauthorized(*out.contract, mode)) {
    const Reason reason = policy == nullptr ? Reason::kPolicyUnknown : Reason::kPolicyUnauthorized;
    return fail(error, {reason, Field::kPolicyName, -1, std::string(name), {}});
  }
  const auto downgrade = policy == nullptr ? DowngradeReason::kPolicyUnknown : DowngradeReason::kPolicyUnauthorized;
  requested.downgrades.add({Field::kPolicyName, downgrade, 0, 0});
  return true;
}

bool takePriority(RequestedIntent& requested, EffectivePolicy& out, Error& error) {
  const Contract& contract = *out.contract;
  const Priority ceiling = contract.priority.value.value_or(Priority::kHigh);
  if (requested.priority == RequestedPriority::kUnspec) {
    out.priority = ceiling;
    out.priority_rule = contract.priority.value ? PriorityRule::kContractCeiling : PriorityRule::kDefaultCeiling;
    return true;
  }
  const auto wanted = static_cast<Priority>(static_cast<int32_t>(requested.priority) - 1);
  if (wanted >= ceiling) {  // a greater number is a lower priority
    out.priority = wanted;
    out.priority_rule = PriorityRule::kAsRequested;
    return true;
  }
  // What the RFC freezes for legacy callers includes that a priority never fails a call.
  if (contract.on_unauthorized.value == OnUnauthorized::kReject && requested.surface != Surface::kLegacy) {
    return fail(
        error,
        {Reason::kPriorityAboveContract, Field::kRequestedPriority, -1, std::string(nameOf(requested.priority)), {}});
  }
  requested.downgrades.add({Field::kRequestedPriority, DowngradeReason::kPriorityAboveContract,
                            static_cast<uint64_t>(requested.priority), static_cast<uint64_t>(requestedOf(ceiling))});
  out.priority = ceiling;
  out.priority_rule = PriorityRule::kCutToCeiling;
  return true;
}

bool takeTransportPolicy(const TransferShape& shape, const PolicySet& policies, EffectivePolicy& out, Error& error) {
  if (out.transport_policy != nullptr || policies.transport_policies.empty()) return true;
  out.transport_policy = selectTransportPolicy(policies.transport_policies, shape, out.priority, out.intent_type);
  if (out.transport_policy == nullptr) {
    return fail(error, errorOf(Reason::kNoTransport, "no entry of `policy` matches it"));
  }
  out.transport_policy_rule = TransportPolicyRule::kFirstMatch;
  return true;
}

bool takeTransports(const RequestedIntent& requested, const TransferShape& shape, TransportSet built,
                    EffectivePolicy& out, Error& error) {
  const bool listed = out.transport_policy != nullptr && !out.transport_policy->transports.empty();
  const TransportList& list = listed ? out.transport_policy->transports : defaultTransports(shape.segment_type);
  const auto& allowed = out.contract->allowed_transports.value;

  const Transport hint = requested.transport_hint;
  if (hint != Transport::kUnspec) {
    const auto refuse = [&](Reason reason) {
      return fail(error, {reason, Field::kTransportHint, -1, std::string(nameOf(hint)), {}});
    };
    if (!built.has(hint)) return refuse(Reason::kTransportNotBuilt);
    if (!list.has(hint)) return refuse(Reason::kHintNotInPolicy);
    if (allowed && !allowed->has(hint)) return refuse(Reason::kHintNotInContract);
  }
  if (!allowed) {
    out.authorized_transports = list;
  } else {
    for (Transport transport : list) {
      if (allowed->has(transport)) {
        out.authorized_transports.add(transport);
      } else {
        out.transports_cut = true;
      }
    }
  }
  out.authorized_transports.moveToFront(hint);
  return true;
}

struct RdmaValue {
  std::optional<uint8_t> value;
  RdmaValueRule rule = RdmaValueRule::kUnset;
};

RdmaValue firstSet(std::optional<uint8_t> entry, std::optional<uint8_t> pool, std::optional<uint8_t> endpoint) {
  if (entry) return {entry, RdmaValueRule::kPolicyEntry};
  if (pool) return {pool, RdmaValueRule::kQpPool};
  if (endpoint) return {endpoint, RdmaValueRule::kEndpoint};
  return {};
}

void takeRdmaValues(const PolicySet& policies, EffectivePolicy& out) {
  const TransportPolicy* entry = out.transport_policy;
  const QpPool* pool = out.qpPool() != nullptr ? policies.findPool(*out.qpPool()) : nullptr;
  const auto level = firstSet(entry != nullptr ? entry->service_level : std::nullopt,
                              pool != nullptr ? pool->service_level : std::nullopt, policies.default_service_level);
  const auto traffic = firstSet(entry != nullptr ? entry->traffic_class : std::nullopt,
                                pool != nullptr ? pool->traffic_class : std::nullopt, policies.default_traffic_class);
  out.service_level = level.value;
  out.service_level_rule = level.rule;
  out.traffic_class = traffic.value;
  out.traffic_class_rule = traffic.rule;
}

}  // namespace

std::string_view nameOf(ExpiredAdmission value) {
  return value == ExpiredAdmission::kReject ? "reject" : "submit";
}

const QpPool* PolicySet::findPool(std::string_view name) const {
  const auto it =
      std::find_if(qp_pools.begin(), qp_pools.end(), [name](const QpPool& pool) { return pool.name == name; });
  return it == qp_pools.end() ? nullptr : &*it;
}

Error resolve(RequestedIntent& requested, const TransferShape& shape, const Tenant& tenant, const PolicySet& policies,
              TransportSet built, ValidationMode mode, EffectivePolicy& out) {
  ::new (&out) EffectivePolicy;  // an assignment, or parentheses, would also write what is to stay unset
  Error error;
  out.tenant = tenant.name;
  out.intent_type = requested.intent_type;
  out.contract = &tenant.contracts[static_cast<size_t>(requested.intent_type)];
  out.admission = policies.expired_admission;

  if (!takeNamedPolicy(requested, shape, policies, mode, out, error)) return error;
  if (!takePriority(requested, out, error)) return error;
  if (!takeTransportPolicy(shape, policies, out, error)) return error;
  if (!takeTransports(requested, shape, built, out, error)) return error;
  takeRdmaValues(policies, out);
  return error;
}

}  // namespace tent
