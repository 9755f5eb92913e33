#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

const Contract& contractOf(const Reading<EngineConfig>& reading, std::string_view tenant, IntentType intent) {
  return reading.value->policies.contracts.of(PolicyName(tenant))[static_cast<size_t>(intent)];
}

Reading<EngineConfig> readDefaults(std::string_view fields) {
  return readConfig(fmt::format(R"({{"qos": {{"version": 1, "defaults": {{{}}}}}}})", fields));
}

}  // namespace

TEST_CASE("a contract arrives as it was written, for the tenant and the intent it names") {
  const auto reading = readConfig(R"({"qos": {"version": 1, "defaults": {"priority": "low"}, "tenants": [
    {"name": " Tenant-A ", "defaults": {"priority": 1, "max_inflight_bytes": "64MiB", "max_inflight_requests": 7},
     "intents": {" Foreground_Get ": {
       "allowed_degraded_actions": ["delay", "fallback_transport", "local_recompute", "compress", "reject"],
       "on_unauthorized": "reject", "allowed_policies": ["not-an-entry"], "allowed_transports": ["tcp", "rdma"]},
       "staging_internal": {}}}]}})");
  CHECK(reading.lines() == std::vector<std::string>{});
  REQUIRE(reading.clean());
  const Contract& contract = contractOf(reading, "tenant-a", IntentType::kForegroundGet);
  CHECK(contract.priority.value == Priority::kMedium);
  CHECK(contract.max_inflight_bytes.value == 67108864);
  CHECK(contract.max_inflight_requests.value == 7);
  CHECK(contract.allowed_degraded_actions.value->size() == 5);
  CHECK(contract.on_unauthorized.value == OnUnauthorized::kReject);
  CHECK(contract.allowed_policies.value == std::vector<std::string>{"not-an-entry"});
  CHECK(*contract.allowed_transports.value == TransportList{Transport::kTcp, Transport::kRdma});
  CHECK(contract.matched_policy == "tenant-a.foreground_get");
  CHECK(contractOf(reading, "nobody", IntentType::kUnspec).priority.value == Priority::kLow);
}

TEST_CASE("an explicit empty list is kept apart from an absent one") {
  const auto reading = readDefaults(R"("allowed_degraded_actions": [], "allowed_policies": [])");
  REQUIRE(reading.clean());
  const Contract& contract = contractOf(reading, "x", IntentType::kUnspec);
  REQUIRE(contract.allowed_degraded_actions.value);
  CHECK(contract.allowed_degraded_actions.value->empty());
  REQUIRE(contract.allowed_policies.value);
  CHECK_FALSE(contract.allowed_transports.value);
}

TEST_CASE("qos is of version 1 where it says a version") {
  CHECK(readConfig(R"({"qos": {}})").clean());
  CHECK(readConfig(R"({"qos": {"version": 1}})").clean());
  CHECK(readConfig(R"({"qos": {"version": 2}})").onlyFault("/qos/version", "not known"));
  CHECK(readConfig(R"({"qos": {"version": "1"}})").faults.hasErrors());
}

TEST_CASE("tenants and intents are there once after normalization") {
  CHECK(
      readConfig(R"({"qos": {"tenants": [{"name": "a"}, {"name": "A "}]}})").onlyFault("/qos/tenants/1/name", "twice"));
  CHECK(readConfig(R"({"qos": {"tenants": [{"name": ""}, {"name": "default"}]}})")
            .onlyFault("/qos/tenants/1/name", "twice"));
  CHECK(readConfig(R"({"qos": {"tenants": [{"name": "a", "intents": {"migration": {}, "MIGRATION": {}}}]}})")
            .onlyFault("/qos/tenants/0/intents/MIGRATION", "twice"));
  CHECK(readConfig(R"({"qos": {"tenants": [{"name": "a", "intents": {"migrations": {}}}]}})")
            .onlyFault("/qos/tenants/0/intents/migrations", "did you mean \"migration\""));
  CHECK(readConfig(R"({"qos": {"tenants": [{}]}})").onlyFault("/qos/tenants/0", "\"name\" is missing"));
  CHECK(readConfig(R"({"qos": {"tenants": [{"name": "a b"}]}})").onlyFault("/qos/tenants/0/name", "no tenant name"));
}

TEST_CASE("faulty fields of a contract are refused at their places") {
  CHECK(readDefaults(R"("max_inflight_bytes": "64XB")").onlyFault("/qos/defaults/max_inflight_bytes", "unit"));
  CHECK(readDefaults(R"("max_inflight_requests": "7")").onlyFault("/qos/defaults/max_inflight_requests", "integer"));
  CHECK(readDefaults(R"("allowed_degraded_actions": ["dealy"])")
            .onlyFault("/qos/defaults/allowed_degraded_actions/0", "did you mean \"delay\""));
  CHECK(readDefaults(R"("on_unauthorized": "Reject")").onlyFault("/qos/defaults/on_unauthorized", "did you mean"));
  CHECK(readDefaults(R"("allowed_policies": ["a b"])").onlyFault("/qos/defaults/allowed_policies/0", "policy name"));
  CHECK(readDefaults(fmt::format(R"("allowed_policies": ["{}"])", std::string(128, 'a')))
            .onlyFault("/qos/defaults/allowed_policies/0", "at most 127"));
  CHECK(readDefaults(R"("allowed_transports": ["unspec"])").onlyFault("/qos/defaults/allowed_transports/0", "unknown"));
  CHECK(readDefaults(R"("priorty": 1)").onlyFault("/qos/defaults/priorty", "did you mean \"priority\""));
}
