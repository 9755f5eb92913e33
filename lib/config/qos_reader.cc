#include "config/qos_reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "config/value_fields.h"

namespace tent {
namespace {

constexpr uint64_t kQosVersion = 1;

constexpr std::array kActions{DegradedAction::kDelay, DegradedAction::kFallbackTransport,
                              DegradedAction::kLocalRecompute, DegradedAction::kCompress, DegradedAction::kReject};
constexpr std::array kOnUnauthorized{OnUnauthorized::kDowngrade, OnUnauthorized::kReject};

std::optional<DegradedAction> actionOfName(std::string_view name) {
  const auto* const action =
      std::ranges::find(kActions, name, [](DegradedAction candidate) { return nameOf(candidate); });
  if (action == kActions.end()) return std::nullopt;
  return *action;
}

std::optional<std::vector<DegradedAction>> readActions(ObjectReader& object, std::string_view key) {
  const std::optional<std::vector<std::string>> words =
      readStrings(object, key, [](const std::string& word) -> std::optional<std::string> {
        if (actionOfName(word)) return std::nullopt;
        std::vector<std::string_view> names;
        names.reserve(kActions.size());
        for (const DegradedAction action : kActions) names.push_back(nameOf(action));
        return "unknown action " + quoteWithSuggestion(word, names);
      });
  if (!words) return std::nullopt;
  std::vector<DegradedAction> actions;
  for (const std::string& word : *words) actions.push_back(*actionOfName(word));
  return actions;
}

std::optional<std::vector<std::string>> readPolicyNames(ObjectReader& object, std::string_view key) {
  return readStrings(object, key, [](const std::string& name) -> std::optional<std::string> {
    switch (checkPolicyName(name)) {
      case Reason::kNone: return std::nullopt;
      case Reason::kPolicyTooLong: return fmt::format("a policy name has at most {} bytes", kPolicyNameMax);
      default:
        return fmt::format("\"{}\" is no policy name: letters, digits, '.', '_' and '-', the first a letter or a digit",
                           name);
    }
  });
}

ContractFields readContract(const JsonValue& value, const std::string& pointer, FaultList& faults) {
  ObjectReader object(value, pointer, faults);
  ContractFields fields;
  fields.priority = readConfigPriority(object, "priority");
  fields.max_inflight_bytes = object.size("max_inflight_bytes");
  fields.max_inflight_requests = object.unsignedInteger("max_inflight_requests", 0, UINT64_MAX);
  fields.allowed_degraded_actions = readActions(object, "allowed_degraded_actions");
  fields.on_unauthorized = readNamed(object, "on_unauthorized", kOnUnauthorized);
  fields.allowed_policies = readPolicyNames(object, "allowed_policies");
  fields.allowed_transports = readTransports(object, "allowed_transports");
  object.finish(UnknownKeys::kError);
  return fields;
}

void readIntents(const JsonValue& value, const std::string& pointer, FaultList& faults, TenantContract& tenant) {
  if (value.kind != JsonValue::Kind::kObject) {
    faults.error(value.position, pointer, fmt::format("expected an object, found {}", describe(value.kind)));
    return;
  }
  for (const JsonValue::Member& member : value.members) {
    const std::string place = pointerTo(pointer, member.key);
    const std::string name = toLowerAscii(trimAscii(member.key));
    ContractFields fields = readContract(member.value, place, faults);
    const std::optional<IntentType> intent = valueOfName<IntentType>(name);
    if (!intent) {
      faults.error(member.position, place, "unknown intent " + quoteWithSuggestion(name, namesOf<IntentType>()));
    } else if (!tenant.intents.emplace(*intent, std::move(fields)).second) {
      faults.error(member.position, place, fmt::format("the intent {} is there twice", name));
    }
  }
}

std::optional<TenantContract> readTenantContract(const JsonValue& value, const std::string& pointer, FaultList& faults,
                                                 Uniqueness& names) {
  ObjectReader object(value, pointer, faults);
  TenantContract tenant;
  object.require("name");
  const std::optional<PolicyName> name = readTenant(object, "name");
  if (const JsonValue* defaults = object.take("defaults")) {
    tenant.defaults = readContract(*defaults, object.pointerOf("defaults"), faults);
  }
  if (const JsonValue* intents = object.take("intents")) {
    readIntents(*intents, object.pointerOf("intents"), faults, tenant);
  }
  object.finish(UnknownKeys::kError);
  if (!name || !names.first(object, "name", std::string(name->view()))) return std::nullopt;
  tenant.name = *name;
  return tenant;
}

}  // namespace

QosConfig readQos(const JsonValue& value, const std::string& pointer, FaultList& faults) {
  ObjectReader object(value, pointer, faults);
  QosConfig qos;
  const std::optional<uint64_t> version = object.unsignedInteger("version", 0, UINT64_MAX);
  if (version && *version != kQosVersion) {
    object.fault("version", fmt::format("version {} of qos is not known; this build reads {}", *version, kQosVersion));
  }
  if (const JsonValue* defaults = object.take("defaults")) {
    qos.defaults = readContract(*defaults, object.pointerOf("defaults"), faults);
  }
  if (const std::vector<JsonValue>* items = object.array("tenants")) {
    Uniqueness names("the tenant");
    qos.tenants.emplace();
    for (size_t i = 0; i < items->size(); ++i) {
      auto tenant = readTenantContract((*items)[i], pointerTo(object.pointerOf("tenants"), i), faults, names);
      if (tenant) qos.tenants->push_back(*std::move(tenant));
    }
  }
  object.finish(UnknownKeys::kError);
  return qos;
}

}  // namespace tent
