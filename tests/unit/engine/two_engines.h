// Two engines in one process, which reach each other as two processes would: the ground of the engine's tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace tent {

inline constexpr uint64_t kWatchdogNs = 60'000'000'000;

// A configuration of this JSON text; the test fails when it has a fault.
EngineConfig configOf(const std::string& json);
std::unique_ptr<Engine> makeEngine(const std::string& config_json = "{}", EngineOptions options = {});

struct TwoEngines {
  // Each with `bytes` of memory: the target's allocated by its engine or registered by its application.
  explicit TwoEngines(uint64_t bytes = 1u << 20, Registration registration = Registration::kAllocated,
                      const std::string& initiator_config = "{}", EngineOptions initiator_options = {},
                      EngineOptions target_options = {}, const std::string& target_config = "{}");

  Request request(Opcode opcode, uint64_t offset, uint64_t length, Transport hint = Transport::kUnspec) const;
  // Submits to a new batch, which must be accepted, and waits for it.
  BatchId run(const std::vector<Request>& requests);
  TaskReport report(BatchId batch, size_t task = 0) const;
  // The error of a submit that must be refused.
  Error refused(const std::vector<Request>& requests);

  // The memory outlives the engines that it is registered with.
  std::vector<std::byte> application_memory;
  std::vector<std::byte> local;  // the initiator's
  std::unique_ptr<Engine> target;
  std::unique_ptr<Engine> initiator;
  std::byte* remote = nullptr;  // the target's memory, in this process too
  SegmentId segment = 0;
};

// `bytes` that differ from those of another seed.
void fill(std::byte* data, uint64_t bytes, uint64_t seed);

}  // namespace tent
