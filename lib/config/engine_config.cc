#include "config/engine_config.h"

#include <array>

#include <fmt/format.h>

#include "config/fields.h"
#include "config/policy_reader.h"
#include "config/qos_reader.h"
#include "config/transport_reader.h"
#include "config/unused_keys.h"
#include "config/value_fields.h"

namespace tent {
namespace {

// In the order of the enumerations they are read into.
constexpr std::array<std::string_view, 4> kMetadataTypes{"p2p", "etcd", "redis", "http"};
constexpr std::array kExpiredAdmissions{ExpiredAdmission::kSubmit, ExpiredAdmission::kReject};
constexpr std::array<std::string_view, 2> kAuthModes{"token", "none"};
constexpr uint64_t kStagingBuffersMax = 65536;

// Calls `read` with the object at `key`, where there is one.
template <typename Read>
void withSection(ObjectReader& top, std::string_view key, const Read& read) {
  const JsonValue* value = top.take(key);
  if (!value) return;
  ObjectReader section(*value, top.pointerOf(key), top.faults());
  read(section);
}

void readPlace(ObjectReader& top, EngineConfig& config) {
  if (auto name = top.string("local_segment_name"); name && !name->empty()) config.local_segment_name = *name;
  config.rpc_server_hostname = top.string("rpc_server_hostname").value_or("");
  config.rpc_server_port = static_cast<uint16_t>(top.unsignedInteger("rpc_server_port", 0, UINT16_MAX).value_or(0));
  const std::optional<size_t> metadata = top.oneOf("metadata_type", kMetadataTypes);
  if (!metadata) return;
  config.metadata_type = static_cast<MetadataType>(*metadata);
  if (config.metadata_type != MetadataType::kP2p) {
    top.warn("metadata_type",
             fmt::format("\"{}\" is not part of this build: an engine will not start with it; \"p2p\" is",
                         kMetadataTypes[*metadata]));
  }
}

void readDecisions(ObjectReader& top, UnusedKeys& unused, EngineConfig& config) {
  config.tenant = readTenant(top, "tenant");
  config.validation_mode = readMode(top, "validation_mode");
  config.plan.max_failover_attempts = static_cast<uint32_t>(
      top.unsignedInteger("max_failover_attempts", 0, UINT32_MAX).value_or(config.plan.max_failover_attempts));
  // The transports come first: policies refer to their pools.
  if (const JsonValue* value = top.take("transports")) {
    readTransportSections(*value, top.pointerOf("transports"), top.faults(), unused, config);
  }
  config.policies.transport_policies = readTransportPolicies(top, "policy", config.policies.qp_pools);
  if (const JsonValue* value = top.take("qos")) {
    config.policies.contracts = ContractTable(readQos(*value, top.pointerOf("qos"), top.faults()));
  }
}

void readSmallSections(ObjectReader& top, UnusedKeys& unused, EngineConfig& config) {
  withSection(top, "admission", [&](ObjectReader& admission) {
    const std::optional<ExpiredAdmission> expired = readNamed(admission, "expired", kExpiredAdmissions);
    config.policies.admission_configured = expired.has_value();
    config.policies.expired_admission = expired.value_or(config.policies.expired_admission);
    admission.finish(UnknownKeys::kError);
  });
  withSection(top, "staging", [&](ObjectReader& staging) {
    config.plan.force_staging = staging.boolean("force").value_or(false);
    if (const std::optional<uint64_t> chunk = staging.size("chunk_size")) {
      if (*chunk == 0) staging.fault("chunk_size", "must be at least 1");
      config.plan.staging_chunk_bytes = *chunk;
    }
    config.staging.buffers = static_cast<uint32_t>(
        staging.unsignedInteger("buffers", 1, kStagingBuffersMax).value_or(config.staging.buffers));
    staging.finish(UnknownKeys::kError);
  });
  withSection(top, "auth", [&](ObjectReader& auth) {
    if (const auto mode = auth.oneOf("mode", kAuthModes)) {
      config.auth.mode = *mode == 0 ? AuthSettings::Mode::kToken : AuthSettings::Mode::kNone;
      if (config.auth.mode == AuthSettings::Mode::kNone) auth.warn("mode", std::string(kOpenWarning));
    }
    config.auth.token_file = readNonEmptyString(auth, "token_file");
    config.auth.encrypt_data = auth.boolean("encrypt_data").value_or(false);
    auth.finish(UnknownKeys::kError);
  });
  withSection(top, "files", [&](ObjectReader& files) {
    if (auto roots = readStrings(files, "roots")) config.file_roots = *std::move(roots);
    files.finish(UnknownKeys::kError);
  });
  withSection(top, "topology", [&](ObjectReader& topology) {
    if (auto devices = readStrings(topology, "rdma_whitelist")) config.plan.rdma_whitelist = *std::move(devices);
    if (auto devices = readStrings(topology, "rdma_blacklist")) config.plan.rdma_blacklist = *std::move(devices);
    unused.collect(topology, {"rdma_whitelist", "rdma_blacklist"});
  });
  withSection(top, "metrics", [&](ObjectReader& metrics) { unused.collect(metrics); });
}

}  // namespace

EngineConfig readEngineConfig(const JsonValue& document, FaultList& faults) {
  EngineConfig config;
  UnusedKeys unused;
  ObjectReader top(document, "", faults);
  // Deployed configurations may hold keys that nobody knows here, but never this one.
  if (top.take("schema_version") != nullptr) {
    top.fault("schema_version",
              "an engine configuration has none: is this a file of intent vectors, or an environment?");
    return config;
  }
  readPlace(top, config);
  readDecisions(top, unused, config);
  readSmallSections(top, unused, config);
  unused.collect(top, {"tenant", "validation_mode", "local_segment_name", "metadata_type", "rpc_server_hostname",
                       "rpc_server_port", "max_failover_attempts", "policy", "qos", "admission", "staging", "auth",
                       "files", "transports", "topology", "metrics"});
  unused.report(document.position, faults);
  return config;
}

}  // namespace tent
