// From an intent vector to its result: the vector is carried to the decision as its surface would carry it, a v1 vector
// as the bytes of a C entry, so that the rules about layouts are the ones that C callers meet.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/engine_config.h"
#include "config/vectors.h"
#include "plan/planner.h"

namespace tent {

// What decides beside the vector itself; absent values were not given there. All of it outlives the results.
struct ExplainContext {
  const EngineConfig& config;
  const Environment& environment;
  std::optional<ValidationMode> option_mode;
  std::optional<PolicyName> option_tenant;
  std::optional<uint64_t> option_now_ns;  // a pinned clock; wins over the one of the file
  uint64_t live_now_ns = 0;               // CLOCK_MONOTONIC, where no clock is pinned
};

// Who set the tenant or the mode, the strongest first.
enum class SettingSource : uint8_t { kVector, kOption, kFile, kConfiguration, kDefault };
std::string_view describe(SettingSource source);

struct Result {
  std::string_view name;  // of the vector, which must outlive it
  size_t index = 0;
  ValidationMode mode = ValidationMode::kStrict;
  SettingSource mode_source = SettingSource::kDefault;
  SettingSource tenant_source = SettingSource::kDefault;
  TransferShape shape;
  Decision decision;
};

Result explain(const Vector& vector, const VectorHeader& header, const ExplainContext& context);

// The fields that the decision about `vector` is made on, for who carries it out; their views refer to the vector. The
// error is that of its layout.
Error requestFieldsOf(const Vector& vector, RequestFields& fields);

// Whose request `vector` is, as explain takes it. `option`: the tenant of the command line.
PolicyName tenantOf(const Vector& vector, const VectorHeader& header, const std::optional<PolicyName>& option,
                    const EngineConfig& config);

}  // namespace tent
