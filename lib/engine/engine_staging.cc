// The engine's part in transfers through staging buffers: of its own, and of peers.
#include <system_error>

#include <fmt/format.h>

#include "base/units.h"
#include "engine/engine_impl.h"
#include "engine/staged_transfers.h"

namespace tent {

StagingLimits Engine::Impl::stagingLimits() const {
  StagingLimits limits;
  limits.times = options_.staging;
  const uint64_t chunk = config_.plan.staging_chunk_bytes;
  const uint64_t buffers = config_.staging.buffers;
  limits.pool_bytes = chunk > UINT64_MAX / buffers ? UINT64_MAX : chunk * buffers;
  return limits;
}

// What this build's engine serves: host memory at both ends, with a copy at each.
Error Engine::Impl::readyToStage(const TransferShape& shape) {
  const auto is_host = [](const MemoryLocation& memory) { return memory.kind == MemoryKind::kCpu; };
  if (!is_host(shape.local_memory) || !is_host(shape.remote_memory)) {
    return errorOf(Reason::kNoTransport, fmt::format("this build stages between host memories only, not {} and {}",
                                                     toString(shape.local_memory), toString(shape.remote_memory)));
  }
  const std::lock_guard lock(staging_mutex_);
  if (staged_ != nullptr) return {};
  if (staging_ended_) return staging_ended_;
  try {
    const StagingSetup setup{config_.plan.staging_chunk_bytes, config_.staging.buffers, options_.control_timeout_ns,
                             options_.staging.wait_ns};
    staged_ = std::make_unique<StagedTransfers>(*this, *control_loop_, security_, setup);
  } catch (const std::system_error& failure) {
    return errorOf(Reason::kResourceExhausted, fmt::format("staging needs a thread: {} (ulimit -u)", failure.what()));
  }
  return {};
}

StagedTransfers* Engine::Impl::staged() const {
  const std::lock_guard lock(staging_mutex_);
  return staged_.get();
}

void Engine::Impl::endStaging(const Error& why) {
  const std::lock_guard lock(staging_mutex_);
  staging_ended_ = why;
  if (staged_ != nullptr) staged_->shutDown(why);
}

}  // namespace tent
