// Rules: what a reload replaces, and what it cannot.
#include "engine/engine_impl.h"

namespace tent {

std::shared_ptr<const Rules> Engine::Impl::rules() const {
  const std::lock_guard lock(rules_mutex_);
  return rules_;
}

std::vector<std::string> Engine::Impl::reloadPolicy(EngineConfig config) {
  std::vector<std::string> unchanged;
  const auto compare = [&](const char* key, const auto& now, const auto& wanted) {
    if (now != wanted) unchanged.emplace_back(key);
  };
  compare("tenant", tenant_, config.tenant.value_or(PolicyName("default")));
  compare("validation_mode", config_.validation_mode, config.validation_mode);
  compare("local_segment_name", config_.local_segment_name, config.local_segment_name);
  compare("metadata_type", config_.metadata_type, config.metadata_type);
  compare("rpc_server_hostname", config_.rpc_server_hostname, config.rpc_server_hostname);
  compare("rpc_server_port", config_.rpc_server_port, config.rpc_server_port);
  compare("transports.tcp", config_.tcp, config.tcp);
  compare("transports.shm", config_.shm, config.shm);
  compare("auth", config_.auth, config.auth);
  compare("files", config_.file_roots, config.file_roots);
  const PlanSettings& now = config_.plan;
  const PlanSettings& wanted = config.plan;
  compare("transports.*.enable", now.disabled, wanted.disabled);
  compare("transports.rdma.workers", now.rdma_slice_bytes, wanted.rdma_slice_bytes);
  compare("transports.rdma.device", now.gid_index, wanted.gid_index);
  compare("topology.rdma_whitelist", now.rdma_whitelist, wanted.rdma_whitelist);
  compare("topology.rdma_blacklist", now.rdma_blacklist, wanted.rdma_blacklist);
  compare("staging.force", now.force_staging, wanted.force_staging);
  compare("staging.chunk_size", now.staging_chunk_bytes, wanted.staging_chunk_bytes);
  compare("staging.buffers", config_.staging.buffers, config.staging.buffers);
  compare("max_failover_attempts", now.max_failover_attempts, wanted.max_failover_attempts);

  const std::lock_guard lock(rules_mutex_);
  rules_ = std::make_shared<const Rules>(std::move(config.policies), tenant_, rules_->generation + 1);
  return unchanged;
}

}  // namespace tent
