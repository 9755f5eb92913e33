#include "policy/resolve.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

constexpr Transport kShm = Transport::kShm, kTcp = Transport::kTcp, kRdma = Transport::kRdma;

TransportSet builtSet() {
  TransportSet built;
  for (Transport transport : {kShm, kTcp, kRdma}) built.add(transport);
  return built;
}

struct Setup {
  PolicySet policies;
  RequestedIntent requested;
  TransferShape shape;
  ValidationMode mode = ValidationMode::kStrict;
  EffectivePolicy effective;

  Setup() { requested.length = shape.length = 4096; }
  Setup& contract(ContractFields fields) {
    QosConfig qos;
    qos.defaults = std::move(fields);
    policies.contracts = ContractTable(qos);
    return *this;
  }
  Setup& entry(std::string name, TransportList transports) {
    TransportPolicy policy;
    policy.name = std::move(name);
    policy.transports = transports;
    policies.transport_policies.push_back(policy);
    return *this;
  }
  Error run() {
    requested.downgrades = {};
    return resolve(requested, shape, Tenant(PolicyName("default"), policies), policies, builtSet(), mode, effective);
  }
};

ContractFields withPriority(Priority priority) {
  ContractFields fields;
  fields.priority = priority;
  return fields;
}

TEST_CASE("with nothing configured a request that asks for nothing gets high and the engine's own order") {
  Setup setup;
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.priority == Priority::kHigh);
  CHECK(setup.effective.priority_rule == PriorityRule::kDefaultCeiling);
  CHECK(setup.effective.transport_policy == nullptr);
  CHECK(setup.effective.authorized_transports == TransportList{kShm, kRdma, kTcp});
  CHECK(setup.requested.downgrades.empty());
}

TEST_CASE("a request gets what it asks up to the ceiling, and the ceiling above it") {
  for (Priority ceiling : {Priority::kHigh, Priority::kMedium, Priority::kLow}) {
    for (Priority wanted : {Priority::kHigh, Priority::kMedium, Priority::kLow}) {
      Setup setup;
      setup.contract(withPriority(ceiling)).requested.priority = requestedOf(wanted);
      CHECK_FALSE(setup.run());
      CHECK(setup.effective.priority == std::max(ceiling, wanted));
      CHECK(setup.requested.downgrades.size() == (wanted < ceiling ? 1 : 0));
    }
  }
}

TEST_CASE("asking above the ceiling is rejected only where the contract says so, and never for a legacy caller") {
  ContractFields fields = withPriority(Priority::kLow);
  fields.on_unauthorized = OnUnauthorized::kReject;
  for (ValidationMode mode : {ValidationMode::kStrict, ValidationMode::kCompat}) {
    Setup setup;
    setup.contract(fields).mode = mode;
    setup.requested.priority = RequestedPriority::kHigh;
    CHECK(setup.run().reason == Reason::kPriorityAboveContract);
    setup.requested.surface = Surface::kLegacy;
    CHECK_FALSE(setup.run());
    CHECK(setup.effective.priority == Priority::kLow);
  }
}

TEST_CASE("an unknown policy is rejected in strict, ignored in compat, and the contract's word beats the mode") {
  Setup setup;
  setup.entry("known", {kTcp}).requested.policy_name = PolicyName("unknown");
  CHECK(setup.run().reason == Reason::kPolicyUnknown);
  setup.mode = ValidationMode::kCompat;
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.transport_policy_rule == TransportPolicyRule::kFirstMatch);
  CHECK(setup.requested.downgrades.begin()->reason == DowngradeReason::kPolicyUnknown);

  ContractFields reject;
  reject.on_unauthorized = OnUnauthorized::kReject;
  CHECK(setup.contract(reject).run().reason == Reason::kPolicyUnknown);
  ContractFields downgrade;
  downgrade.on_unauthorized = OnUnauthorized::kDowngrade;
  setup.mode = ValidationMode::kStrict;
  CHECK_FALSE(setup.contract(downgrade).run());
}

TEST_CASE("a named policy skips the filters of its entry but not the contract") {
  Setup setup;
  setup.entry("small", {kTcp}).entry("rest", {kShm});
  setup.policies.transport_policies[0].max_size = 1;
  setup.requested.policy_name = PolicyName("small");
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.transport_policy == &setup.policies.transport_policies[0]);
  ContractFields fields;
  fields.allowed_policies = {"rest", "listed-nowhere"};
  CHECK(setup.contract(fields).run().reason == Reason::kPolicyUnauthorized);
  fields.allowed_policies->clear();
  setup.requested.policy_name = PolicyName("rest");
  CHECK(setup.contract(fields).run().reason == Reason::kPolicyUnauthorized);
}

TEST_CASE("where entries are configured and none matches there is no transport") {
  Setup setup;
  setup.entry("files", {kTcp}).policies.transport_policies[0].segment_type = SegmentType::kFile;
  CHECK(setup.run().reason == Reason::kNoTransport);
}

TEST_CASE("the effective priority, not the requested one, selects the entry") {
  Setup setup;
  setup.entry("high-only", {kTcp}).entry("low-only", {kShm});
  setup.policies.transport_policies[0].priority = Priority::kHigh;
  setup.policies.transport_policies[1].priority = Priority::kLow;
  setup.contract(withPriority(Priority::kLow)).requested.priority = RequestedPriority::kHigh;
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.transport_policy->name == "low-only");
}

TEST_CASE("an entry that lists no transport has the default of its segment type") {
  Setup setup;
  setup.entry("open", {});
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.authorized_transports == TransportList{kShm, kRdma, kTcp});
  setup.shape.segment_type = SegmentType::kFile;
  setup.policies.transport_policies.clear();
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.authorized_transports == TransportList{Transport::kIoUring});
}

TEST_CASE("a hint must be built, listed and allowed, in this order, and then comes first") {
  Setup setup;
  setup.entry("p", {kShm, Transport::kGds, kTcp});
  ContractFields fields;
  fields.allowed_transports = TransportList{kShm, kTcp};
  setup.contract(fields);
  setup.requested.transport_hint = Transport::kGds;
  CHECK(setup.run().reason == Reason::kTransportNotBuilt);
  setup.requested.transport_hint = kRdma;
  CHECK(setup.run().reason == Reason::kHintNotInPolicy);
  setup.policies.transport_policies[0].transports = {kShm, kRdma, kTcp};
  CHECK(setup.run().reason == Reason::kHintNotInContract);
  setup.requested.transport_hint = kTcp;
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.authorized_transports == TransportList{kTcp, kShm});
  CHECK(setup.effective.transports_cut);
}

TEST_CASE("service level and traffic class come from the entry, else its pool, else the endpoint") {
  Setup setup;
  setup.entry("p", {kRdma});
  TransportPolicy& entry = setup.policies.transport_policies[0];
  setup.policies.default_service_level = 1;
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.service_level == 1);
  CHECK(setup.effective.service_level_rule == RdmaValueRule::kEndpoint);
  CHECK_FALSE(setup.effective.traffic_class);
  entry.qp_pool = "pool";
  QpPool pool;
  pool.name = "pool";
  pool.service_level = 2;
  setup.policies.qp_pools = {pool};
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.service_level == 2);
  entry.service_level = 3;
  CHECK_FALSE(setup.run());
  CHECK(setup.effective.service_level == 3);
  CHECK(setup.effective.service_level_rule == RdmaValueRule::kPolicyEntry);
  CHECK(*setup.effective.qpPool() == "pool");
}

}  // namespace
}  // namespace tent
