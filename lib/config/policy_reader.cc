#include "config/policy_reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "config/rdma_reader.h"
#include "config/value_fields.h"

namespace tent {
namespace {

constexpr std::array kPatterns{MemoryPattern::kAny, MemoryPattern::kCpu, MemoryPattern::kCuda};

std::optional<IntentType> readIntent(ObjectReader& object, std::string_view key) {
  const JsonValue* value = object.take(key);
  if (!value) return std::nullopt;
  std::optional<IntentType> intent;
  std::string fault = "expected an intent's name or number, found " + std::string(describe(value->kind));
  if (value->kind == JsonValue::Kind::kString) {
    intent = valueOfName<IntentType>(value->string);
    fault = "unknown intent " + quoteWithSuggestion(value->string, namesOf<IntentType>());
  } else if (value->kind == JsonValue::Kind::kUnsigned || value->kind == JsonValue::Kind::kInteger) {
    const bool known = value->kind == JsonValue::Kind::kUnsigned && value->unsigned_integer < kIntentTypeCount;
    if (known) intent = static_cast<IntentType>(value->unsigned_integer);
    fault = fmt::format("no intent has this number; they are 0 to {}", kIntentTypeCount - 1);
  }
  if (!intent) object.fault(key, std::move(fault));
  return intent;
}

void readSizes(ObjectReader& object, TransportPolicy& policy) {
  policy.min_size = object.size("min_size");
  policy.max_size = object.size("max_size");
  if (policy.min_size && policy.max_size && *policy.min_size > *policy.max_size) {
    object.fault("min_size", fmt::format("is over max_size ({} B): nothing can match", *policy.max_size));
  }
}

void checkValue(ObjectReader& object, std::string_view key, const QpPool& pool, std::optional<uint8_t> entry,
                std::optional<uint8_t> of_pool) {
  if (!entry || !of_pool || *entry == *of_pool) return;
  object.fault(key, fmt::format("{} contradicts the qp_pool \"{}\", which has {}", *entry, pool.name, *of_pool));
}

void checkPool(ObjectReader& object, const TransportPolicy& policy, const std::vector<QpPool>& pools) {
  if (!policy.qp_pool) return;
  const auto pool = std::ranges::find(pools, *policy.qp_pool, &QpPool::name);
  if (pool != pools.end()) {
    checkValue(object, "service_level", *pool, policy.service_level, pool->service_level);
    checkValue(object, "traffic_class", *pool, policy.traffic_class, pool->traffic_class);
    return;
  }
  std::vector<std::string_view> names;
  names.reserve(pools.size());
  for (const QpPool& declared : pools) names.push_back(declared.name);
  object.warn("qp_pool", fmt::format("transports.rdma.endpoint.qp_pools declares no {}: rdma will be rejected for this "
                                     "entry (qp_pool_missing)",
                                     quoteWithSuggestion(*policy.qp_pool, names)));
}

TransportPolicy readEntry(ObjectReader& object, size_t index, const std::vector<QpPool>& pools) {
  TransportPolicy policy;
  policy.name = readNonEmptyString(object, "name").value_or(fmt::format("policy[{}]", index));
  policy.segment_type = readNamed(object, "segment_type", kSegmentTypes).value_or(SegmentType::kMemory);
  policy.same_machine = object.boolean("same_machine");
  policy.local_memory = readNamed(object, "local_memory", kPatterns).value_or(MemoryPattern::kAny);
  policy.remote_memory = readNamed(object, "remote_memory", kPatterns).value_or(MemoryPattern::kAny);
  readSizes(object, policy);
  policy.priority = readConfigPriority(object, "priority");
  policy.intent_type = readIntent(object, "intent_type");
  policy.devices = readStrings(object, "devices").value_or(std::vector<std::string>{});
  policy.transports = readTransports(object, "transports").value_or(TransportList{});
  policy.qp_pool = readNonEmptyString(object, "qp_pool");
  policy.service_level = readServiceLevel(object, "service_level");
  policy.traffic_class = readTrafficClass(object, "traffic_class");
  checkPool(object, policy, pools);
  object.finish(UnknownKeys::kError);
  return policy;
}

}  // namespace

std::vector<TransportPolicy> readTransportPolicies(ObjectReader& object, std::string_view key,
                                                   const std::vector<QpPool>& pools) {
  std::vector<TransportPolicy> policies;
  const std::vector<JsonValue>* items = object.array(key);
  if (!items) return policies;
  Uniqueness memory_names("the memory policy");
  Uniqueness file_names("the file policy");
  for (size_t i = 0; i < items->size(); ++i) {
    ObjectReader entry((*items)[i], pointerTo(object.pointerOf(key), i), object.faults());
    policies.push_back(readEntry(entry, i, pools));
    Uniqueness& names = policies.back().segment_type == SegmentType::kFile ? file_names : memory_names;
    names.first(entry, "name", policies.back().name);
  }
  return policies;
}

}  // namespace tent
