#include "policy/contract.h"

#include <utility>

namespace tent {
namespace {

template <typename T>
void overlay(Merged<T>& merged, const std::optional<T>& field, ContractLayer layer) {
  if (field) merged = {field, layer};
}

void overlay(Contract& contract, const ContractFields& fields, ContractLayer layer) {
  overlay(contract.priority, fields.priority, layer);
  overlay(contract.max_inflight_bytes, fields.max_inflight_bytes, layer);
  overlay(contract.max_inflight_requests, fields.max_inflight_requests, layer);
  overlay(contract.allowed_degraded_actions, fields.allowed_degraded_actions, layer);
  overlay(contract.on_unauthorized, fields.on_unauthorized, layer);
  overlay(contract.allowed_policies, fields.allowed_policies, layer);
  overlay(contract.allowed_transports, fields.allowed_transports, layer);
}

TenantContracts contractsOf(const TenantContracts& global, const TenantContract& tenant) {
  TenantContracts contracts = global;
  for (Contract& contract : contracts) {
    contract.tenant = tenant.name;
    contract.matched_policy = std::string(tenant.name.view()) + ".default";
    overlay(contract, tenant.defaults, ContractLayer::kTenantDefaults);
    if (auto it = tenant.intents.find(contract.intent); it != tenant.intents.end()) {
      contract.matched_policy = std::string(tenant.name.view()) + "." + std::string(nameOf(contract.intent));
      overlay(contract, it->second, ContractLayer::kTenantIntent);
    }
  }
  return contracts;
}

}  // namespace

std::string_view nameOf(OnUnauthorized value) {
  return value == OnUnauthorized::kReject ? "reject" : "downgrade";
}

std::string_view nameOf(DegradedAction action) {
  switch (action) {
    case DegradedAction::kDelay: return "delay";
    case DegradedAction::kFallbackTransport: return "fallback_transport";
    case DegradedAction::kLocalRecompute: return "local_recompute";
    case DegradedAction::kCompress: return "compress";
    case DegradedAction::kReject: return "reject";
  }
  return "";
}

ContractTable::ContractTable(const QosConfig& qos) {
  const bool contract_free = !qos.defaults && !qos.tenants;
  for (int i = 0; i < kIntentTypeCount; ++i) {
    Contract& contract = global_[static_cast<size_t>(i)];
    contract.intent = static_cast<IntentType>(i);
    contract.matched_policy = contract_free ? "compatibility_default" : "global_default";
    if (qos.defaults) overlay(contract, *qos.defaults, ContractLayer::kDefaults);
  }
  if (!qos.tenants) return;
  for (const TenantContract& tenant : *qos.tenants) {
    tenants_.emplace(tenant.name.view(), contractsOf(global_, tenant));
  }
}

const TenantContracts& ContractTable::of(const PolicyName& tenant) const {
  const auto it = tenants_.find(tenant.view());
  return it == tenants_.end() ? global_ : it->second;
}

std::string ruleOf(const Contract& contract, ContractLayer layer, std::string_view key) {
  const std::string tenant = "qos.tenants[" + std::string(contract.tenant.view()) + "].";
  switch (layer) {
    case ContractLayer::kBuiltin: return "default";
    case ContractLayer::kDefaults: return "qos.defaults." + std::string(key);
    case ContractLayer::kTenantDefaults: return tenant + "defaults." + std::string(key);
    case ContractLayer::kTenantIntent:
      return tenant + "intents." + std::string(nameOf(contract.intent)) + "." + std::string(key);
  }
  return "";
}

}  // namespace tent
