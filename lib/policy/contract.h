// The QoS contract of an engine configuration (`qos`): what each tenant may have for each intent. Three layers merge
// field by field: `defaults`, the tenant's `defaults`, the tenant's `intents[intent]`; every merged value remembers its
// layer.
//
// A request's values are wishes; the contract is what authorizes them (RFC "Requested versus effective intent").
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intent/policy_name.h"
#include "intent/values.h"

namespace tent {

enum class OnUnauthorized : uint8_t { kDowngrade, kReject };
std::string_view nameOf(OnUnauthorized value);

enum class DegradedAction : uint8_t { kDelay, kFallbackTransport, kLocalRecompute, kCompress, kReject };
std::string_view nameOf(DegradedAction action);

// One layer as written: what is absent is inherited.
struct ContractFields {
  std::optional<Priority> priority;
  std::optional<uint64_t> max_inflight_bytes;
  std::optional<uint64_t> max_inflight_requests;
  std::optional<std::vector<DegradedAction>> allowed_degraded_actions;
  std::optional<OnUnauthorized> on_unauthorized;
  std::optional<std::vector<std::string>> allowed_policies;
  std::optional<TransportList> allowed_transports;
};

struct TenantContract {
  PolicyName name;  // normalized
  ContractFields defaults;
  std::map<IntentType, ContractFields> intents;
};

struct QosConfig {
  std::optional<ContractFields> defaults;
  std::optional<std::vector<TenantContract>> tenants;  // names are unique
};

// Where a merged value comes from.
enum class ContractLayer : uint8_t { kBuiltin, kDefaults, kTenantDefaults, kTenantIntent };

template <typename T>
struct Merged {
  std::optional<T> value;  // absent: no layer sets it
  ContractLayer layer = ContractLayer::kBuiltin;
};

// What holds for one tenant and one intent.
struct Contract {
  std::string matched_policy;  // "compatibility_default", "global_default", "<tenant>.default", "<tenant>.<intent>"
  PolicyName tenant;           // as listed in the configuration; empty where the tenant is not listed
  IntentType intent = IntentType::kUnspec;
  Merged<Priority> priority;
  Merged<uint64_t> max_inflight_bytes;
  Merged<uint64_t> max_inflight_requests;
  Merged<std::vector<DegradedAction>> allowed_degraded_actions;
  Merged<OnUnauthorized> on_unauthorized;
  Merged<std::vector<std::string>> allowed_policies;
  Merged<TransportList> allowed_transports;
};

using TenantContracts = std::array<Contract, kIntentTypeCount>;  // by IntentType

// The contracts of all tenants, merged once when the configuration is loaded. Immutable.
class ContractTable {
 public:
  explicit ContractTable(const QosConfig& qos);
  // The contracts of `tenant` (normalized); for one that is not listed, those of the global defaults. The reference is
  // valid as long as the table.
  const TenantContracts& of(const PolicyName& tenant) const;

 private:
  TenantContracts global_;
  std::map<std::string, TenantContracts, std::less<>> tenants_;
};

// The place of a merged value in the configuration: "qos.tenants[tenant-a].intents.foreground_get.priority"; "default"
// where no layer set it. `key` is the field's JSON name.
std::string ruleOf(const Contract& contract, ContractLayer layer, std::string_view key);

}  // namespace tent
