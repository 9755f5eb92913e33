#include "policy/contract.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

const Contract& contractOf(const ContractTable& table, std::string_view tenant, IntentType intent) {
  return table.of(PolicyName(tenant))[static_cast<size_t>(intent)];
}

TenantContract tenantNamed(std::string_view name) {
  TenantContract tenant;
  tenant.name = PolicyName(name);
  return tenant;
}

TEST_CASE("without defaults and tenants the contract is compatibility_default and limits nothing") {
  const ContractTable table{QosConfig{}};
  const Contract& contract = contractOf(table, "anyone", IntentType::kMigration);
  CHECK(contract.matched_policy == "compatibility_default");
  CHECK_FALSE(contract.priority.value);
  CHECK(ruleOf(contract, contract.priority.layer, "priority") == "default");
}

TEST_CASE("empty defaults, or an empty list of tenants, already make a contract") {
  QosConfig with_defaults;
  with_defaults.defaults = ContractFields{};
  CHECK(contractOf(ContractTable(with_defaults), "anyone", IntentType::kUnspec).matched_policy == "global_default");
  QosConfig with_tenants;
  with_tenants.tenants.emplace();
  CHECK(contractOf(ContractTable(with_tenants), "anyone", IntentType::kUnspec).matched_policy == "global_default");
}

TEST_CASE("layers merge field by field, and each value remembers its layer") {
  QosConfig qos;
  qos.defaults = ContractFields{};
  qos.defaults->priority = Priority::kLow;
  qos.defaults->max_inflight_bytes = 1;
  qos.defaults->on_unauthorized = OnUnauthorized::kReject;
  TenantContract tenant = tenantNamed("a");
  tenant.defaults.max_inflight_bytes = 2;
  tenant.defaults.allowed_degraded_actions = {DegradedAction::kDelay};
  tenant.intents[IntentType::kCheckpoint].priority = Priority::kMedium;
  tenant.intents[IntentType::kCheckpoint].allowed_degraded_actions.emplace();  // explicitly none
  qos.tenants = {tenant};
  const ContractTable table(qos);

  const Contract& checkpoint = contractOf(table, "a", IntentType::kCheckpoint);
  CHECK(checkpoint.matched_policy == "a.checkpoint");
  CHECK(checkpoint.priority.value == Priority::kMedium);
  CHECK(ruleOf(checkpoint, checkpoint.priority.layer, "priority") == "qos.tenants[a].intents.checkpoint.priority");
  CHECK(checkpoint.max_inflight_bytes.value == 2);
  CHECK(ruleOf(checkpoint, checkpoint.max_inflight_bytes.layer, "max_inflight_bytes") ==
        "qos.tenants[a].defaults.max_inflight_bytes");
  CHECK(checkpoint.on_unauthorized.value == OnUnauthorized::kReject);
  CHECK(ruleOf(checkpoint, checkpoint.on_unauthorized.layer, "on_unauthorized") == "qos.defaults.on_unauthorized");
  REQUIRE(checkpoint.allowed_degraded_actions.value);
  CHECK(checkpoint.allowed_degraded_actions.value->empty());

  const Contract& migration = contractOf(table, "a", IntentType::kMigration);
  CHECK(migration.matched_policy == "a.default");
  CHECK(migration.priority.value == Priority::kLow);
  CHECK(migration.allowed_degraded_actions.value->size() == 1);

  const Contract& stranger = contractOf(table, "b", IntentType::kCheckpoint);
  CHECK(stranger.matched_policy == "global_default");
  CHECK(stranger.max_inflight_bytes.value == 1);
  CHECK_FALSE(stranger.allowed_degraded_actions.value);
}

TEST_CASE("a listed tenant matches by its name without defaults, a listed intent even as an empty object") {
  QosConfig qos;
  TenantContract tenant = tenantNamed("a");
  tenant.intents[IntentType::kUnspec];
  qos.tenants = {tenant};
  const ContractTable table(qos);
  CHECK(contractOf(table, "a", IntentType::kUnspec).matched_policy == "a.unspec");
  CHECK(contractOf(table, "a", IntentType::kMigration).matched_policy == "a.default");
}

}  // namespace
}  // namespace tent
