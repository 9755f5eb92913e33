#include "report/result_json.h"

#include <string>

namespace tent {
namespace {

// `requested` stands as far as normalization came; what it did not reach is null.
void writeRequested(JsonWriter& json, const RequestedIntent& requested, const Redactor& redactor) {
  const auto reached = [&](Normalized step) { return requested.normalized >= step; };
  const auto field_if = [&](Normalized step, std::string_view key, auto value) {
    reached(step) ? json.field(key, value) : json.nullField(key);
  };
  json.beginObject();
  json.field("surface", nameOf(requested.surface));
  field_if(Normalized::kLayout, "schema_version", uint64_t{requested.schema_version});
  field_if(Normalized::kArguments, "opcode", nameOf(requested.opcode));
  field_if(Normalized::kArguments, "length", requested.length);
  field_if(Normalized::kIntentType, "intent_type", nameOf(requested.intent_type));
  field_if(Normalized::kPriority, "requested_priority", nameOf(requested.priority));
  json.key("deadline");
  if (reached(Normalized::kDeadline)) {
    const bool given = requested.deadline.state != DeadlineState::kNone;
    json.beginObject();
    json.field("state", nameOf(requested.deadline.state));
    given ? json.field("deadline_ns", requested.deadline.deadline_ns) : json.nullField("deadline_ns");
    given ? json.field("remaining_ns", requested.deadline.remaining_ns) : json.nullField("remaining_ns");
    json.endObject();
  } else {
    json.null();
  }
  if (requested.policy_name.empty()) {
    json.nullField("policy_name");
  } else {
    json.field("policy_name", redactor.policy(requested.policy_name.view()));
  }
  field_if(Normalized::kAll, "transport_hint", nameOf(requested.transport_hint));
  field_if(Normalized::kFlags, "flags", requested.flags);
  json.endObject();
}

void writeDowngrade(JsonWriter& json, const Downgrade& downgrade, const RequestedIntent& requested,
                    const Redactor& redactor) {
  json.beginObject();
  json.field("field", nameOf(downgrade.field));
  switch (downgrade.reason) {
    case DowngradeReason::kUnknownIntentType:
    case DowngradeReason::kUnknownPriority:
      json.key("from"), json.integer(static_cast<int64_t>(downgrade.from));
      json.field("to", "unspec");
      break;
    case DowngradeReason::kPriorityAboveContract:
      json.field("from", nameOf(static_cast<RequestedPriority>(downgrade.from)));
      json.field("to", nameOf(static_cast<RequestedPriority>(downgrade.to)));
      break;
    case DowngradeReason::kPolicyUnknown:
    case DowngradeReason::kPolicyUnauthorized:
      json.field("from", redactor.policy(requested.policy_name.view()));
      json.nullField("to");
      break;
    case DowngradeReason::kFlagsIgnored:
      json.field("from", downgrade.from);
      json.field("to", downgrade.to);
      break;
    case DowngradeReason::kTailIgnored:
      json.field("from", downgrade.from);
      json.nullField("to");
      break;
  }
  json.field("reason", nameOf(downgrade.reason));
  json.endObject();
}

template <typename T>
void numberOrNull(JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  value ? json.field(key, uint64_t{*value}) : json.nullField(key);
}

void nameOrNull(JsonWriter& json, std::string_view key, std::string_view name) {
  name.empty() ? json.nullField(key) : json.field(key, name);
}

template <typename List>
void writeNames(JsonWriter& json, std::string_view key, const List& list) {
  json.key(key);
  json.beginArray();
  for (const auto& item : list) json.string(nameOf(item));
  json.endArray();
}

void writeEffective(JsonWriter& json, const EffectivePolicy& effective, const Redactor& redactor) {
  const Contract& contract = *effective.contract;
  json.beginObject();
  json.field("tenant", redactor.tenant(effective.tenant.view()));
  json.field("intent_type", nameOf(effective.intent_type));
  json.field("priority", nameOf(effective.priority));
  json.field("matched_policy", redactor.matchedPolicy(contract.matched_policy));
  const TransportPolicy* policy = effective.transport_policy;
  nameOrNull(json, "transport_policy", policy != nullptr ? redactor.policy(policy->name) : std::string());
  writeNames(json, "authorized_transports", effective.authorized_transports);
  nameOrNull(json, "qp_pool",
             effective.qpPool() != nullptr ? std::string_view(*effective.qpPool()) : std::string_view());
  numberOrNull(json, "service_level", effective.service_level);
  numberOrNull(json, "traffic_class", effective.traffic_class);
  json.key("devices");
  json.beginArray();
  if (policy != nullptr) {
    for (const std::string& device : policy->devices) json.string(redactor.device(device));
  }
  json.endArray();
  numberOrNull(json, "max_inflight_bytes", contract.max_inflight_bytes.value);
  numberOrNull(json, "max_inflight_requests", contract.max_inflight_requests.value);
  if (contract.allowed_degraded_actions.value) {
    writeNames(json, "degraded_actions", *contract.allowed_degraded_actions.value);
  } else {
    json.nullField("degraded_actions");
  }
  json.field("admission", nameOf(effective.admission));
  json.endObject();
}

void writeRejected(JsonWriter& json, const std::vector<Rejected>& rejected, const Redactor& redactor) {
  json.key("rejected");
  json.beginArray();
  for (const Rejected& candidate : rejected) {
    json.beginObject();
    json.field("backend", nameOf(candidate.backend));
    json.field("reason", nameOf(candidate.reason));
    json.field("message", redactor.message(candidate));
    json.endObject();
  }
  json.endArray();
}

void writeStage(JsonWriter& json, const Stage& stage, const Redactor& redactor) {
  // The devices of a copy are memories, which tell nothing about the host.
  const auto device = [&](const std::string& name) {
    return stage.type == StageType::kTransfer ? redactor.device(name) : name;
  };
  json.beginObject();
  json.field("type", nameOf(stage.type));
  json.field("backend", stage.backend);
  nameOrNull(json, "local_device", device(stage.local_device));
  nameOrNull(json, "remote_device", device(stage.remote_device));
  nameOrNull(json, "qp_pool", stage.qp_pool);
  numberOrNull(json, "service_level", stage.service_level);
  numberOrNull(json, "traffic_class", stage.traffic_class);
  json.field("bytes", stage.bytes);
  json.field("slice_bytes", stage.slice_bytes);
  json.field("slices", stage.slices);
  json.endObject();
}

void writePlan(JsonWriter& json, const ExecutionPlan& plan, const Redactor& redactor) {
  json.beginObject();
  json.field("schema_version", uint64_t{kPlanSchemaVersion});
  json.field("path_kind", nameOf(plan.path_kind));
  json.field("role", "primary");
  nameOrNull(json, "transport_policy", redactor.policy(plan.transport_policy));
  json.key("stages");
  json.beginArray();
  for (const Stage& stage : plan.stages) writeStage(json, stage, redactor);
  json.endArray();
  writeNames(json, "fallbacks", plan.fallbacks);
  writeRejected(json, plan.rejected, redactor);
  json.endObject();
}

void writeValue(JsonWriter& json, const ErrorValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return json.integer(*number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return json.unsignedInteger(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return json.string(*text);
  json.null();
}

void writeError(JsonWriter& json, const Decision& decision, const Redactor& redactor) {
  const Error& error = decision.error;
  const Category category = categoryOf(error.reason);
  json.beginObject();
  json.field("category", nameOf(category));
  json.key("code"), json.integer(codeOf(category));
  json.field("reason", nameOf(error.reason));
  nameOrNull(json, "field", nameOf(error.field));
  json.key("value"), writeValue(json, redactor.value(error));
  json.field("message", redactor.message(error));
  writeRejected(json, decision.rejected, redactor);
  json.endObject();
}

}  // namespace

void writeResult(JsonWriter& json, const Result& result, const Redactor& redactor, const MoreMembers& more) {
  const Decision& decision = result.decision;
  json.beginObject();
  json.field("name", result.name);
  json.field("index", uint64_t{result.index});
  json.field("status", nameOf(categoryOf(decision.error.reason)));
  json.key("requested"), writeRequested(json, decision.requested, redactor);
  json.key("downgrades");
  json.beginArray();
  for (const Downgrade& downgrade : decision.requested.downgrades) {
    writeDowngrade(json, downgrade, decision.requested, redactor);
  }
  json.endArray();
  json.key("effective");
  decision.effective ? writeEffective(json, *decision.effective, redactor) : json.null();
  json.key("plan");
  decision.plan ? writePlan(json, *decision.plan, redactor) : json.null();
  json.key("error");
  decision.error ? writeError(json, decision, redactor) : json.null();
  if (more) more(json);
  json.endObject();
}

std::string resultText(const Result& result, const Redactor& redactor) {
  std::string text;
  JsonWriter json(text);
  writeResult(json, result, redactor);
  return text;
}

}  // namespace tent
