// The engine of one tenant, and what it knows of the peers: a tenant is set on an engine, not on a request, so a file
// with vectors of several has a session for each. Thread safety: none, beyond that of the engine.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "config/engine_config.h"
#include "engine/engine.h"
#include "tent-submit/source_memory.h"

namespace tent::tool {

class Session {
 public:
  // An engine on a loopback address, as an initiator needs no address that others know. Knows no peer yet.
  static tl::expected<std::unique_ptr<Session>, Error> start(const EngineConfig& config, const PolicyName& tenant,
                                                             uint64_t control_timeout_ns);

  // Opens the segment of the next peer; `address` is "host:port". Blocks for a few control timeouts at most.
  Error connect(const std::string& address);

  Engine& engine() { return *engine_; }
  // For what goes to one peer: belongs to the thread that runs its waves.
  SourceMemory& memory(size_t peer) { return memories_[peer]; }
  SegmentId segment(size_t peer) const { return targets_[peer].segment; }
  // What requests to a peer are decided against; without one, this machine.
  const Environment& environment(std::optional<size_t> peer, Registration registration) const;

  // Ends the engine, and what is in flight with it. Results may still be explained, and metrics be asked for.
  void end();
  EngineMetrics metrics() const { return engine_ != nullptr ? engine_->metrics() : metrics_at_end_; }

 private:
  struct Target {
    SegmentId segment = kLocalSegment;
    std::array<Environment, 2> environments;  // by registration
  };
  Session() = default;
  tl::expected<Target, Error> look(SegmentId segment);

  std::vector<SourceMemory> memories_;  // by peer; outlive the engine
  std::unique_ptr<Engine> engine_;
  Target local_;
  std::vector<Target> targets_;
  EngineMetrics metrics_at_end_;
};

}  // namespace tent::tool
