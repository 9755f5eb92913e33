#include "config/rdma_reader.h"

#include "config/value_fields.h"

namespace tent {
namespace {

constexpr uint64_t kServiceLevelMax = 15;
constexpr uint64_t kTrafficClassMax = 255;
constexpr int64_t kGidIndexMax = 65535;
constexpr uint64_t kPoolQueuePairsMax = 65535;

std::optional<uint8_t> readByte(ObjectReader& object, std::string_view key, uint64_t max) {
  const std::optional<uint64_t> value = object.unsignedInteger(key, 0, max);
  if (!value) return std::nullopt;
  return static_cast<uint8_t>(*value);
}

void readPools(ObjectReader& endpoint, UnusedKeys& unused, PolicySet& policies) {
  const std::vector<JsonValue>* items = endpoint.array("qp_pools");
  if (!items) return;
  Uniqueness names("the pool");
  for (size_t i = 0; i < items->size(); ++i) {
    ObjectReader object((*items)[i], pointerTo(endpoint.pointerOf("qp_pools"), i), endpoint.faults());
    QpPool pool;
    object.require("name");
    const std::optional<std::string> name = readNonEmptyString(object, "name");
    pool.num_qp = static_cast<uint32_t>(object.unsignedInteger("num_qp", 1, kPoolQueuePairsMax).value_or(1));
    pool.service_level = readServiceLevel(object, "service_level");
    pool.traffic_class = readTrafficClass(object, "traffic_class");
    unused.collect(object, {"name", "num_qp", "service_level", "traffic_class"});
    if (!name || !names.first(object, "name", *name)) continue;
    pool.name = *name;
    policies.qp_pools.push_back(std::move(pool));
  }
}

void readDevice(ObjectReader& rdma, UnusedKeys& unused, PlanSettings& plan) {
  const JsonValue* value = rdma.take("device");
  if (!value) return;
  ObjectReader device(*value, rdma.pointerOf("device"), rdma.faults());
  const std::optional<int64_t> gid_index = device.integer("gid_index", -1, kGidIndexMax);
  if (gid_index && *gid_index >= 0) plan.gid_index = static_cast<int>(*gid_index);
  unused.collect(device, {"gid_index"});
}

void readEndpoint(ObjectReader& rdma, UnusedKeys& unused, PolicySet& policies) {
  const JsonValue* value = rdma.take("endpoint");
  if (!value) return;
  ObjectReader endpoint(*value, rdma.pointerOf("endpoint"), rdma.faults());
  policies.default_service_level = readServiceLevel(endpoint, "service_level");
  policies.default_traffic_class = readTrafficClass(endpoint, "traffic_class");
  readPools(endpoint, unused, policies);
  unused.collect(endpoint, {"service_level", "traffic_class", "qp_pools"});
}

void readWorkers(ObjectReader& rdma, UnusedKeys& unused, PlanSettings& plan) {
  const JsonValue* value = rdma.take("workers");
  if (!value) return;
  ObjectReader workers(*value, rdma.pointerOf("workers"), rdma.faults());
  if (const std::optional<uint64_t> block_size = workers.size("block_size")) {
    if (*block_size == 0) workers.fault("block_size", "must be at least 1");
    plan.rdma_slice_bytes = *block_size;
  }
  unused.collect(workers, {"block_size"});
}

}  // namespace

std::optional<uint8_t> readServiceLevel(ObjectReader& object, std::string_view key) {
  return readByte(object, key, kServiceLevelMax);
}

std::optional<uint8_t> readTrafficClass(ObjectReader& object, std::string_view key) {
  return readByte(object, key, kTrafficClassMax);
}

void readRdmaSection(ObjectReader& rdma, UnusedKeys& unused, PolicySet& policies, PlanSettings& plan) {
  readDevice(rdma, unused, plan);
  readEndpoint(rdma, unused, policies);
  readWorkers(rdma, unused, plan);
  unused.collect(rdma, {"enable", "device", "endpoint", "workers"});
}

}  // namespace tent
