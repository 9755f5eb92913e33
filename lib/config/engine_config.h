// The engine configuration (`schemas/engine-config.schema.json`): a superset of what TENT deployments have today. Such
// a file loads unchanged; what this build does not use of it is named in one warning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.h"
#include "config/json_value.h"
#include "intent/policy_name.h"
#include "intent/values.h"
#include "plan/planner.h"
#include "policy/resolve.h"

namespace tent {

enum class MetadataType : uint8_t { kP2p, kEtcd, kRedis, kHttp };

// `transports.tcp`, beside `enable`.
struct TcpSettings {
  uint16_t port = 0;     // of the data; 0: any free one
  uint32_t streams = 1;  // sockets to a peer
  uint64_t connect_timeout_ns = 5'000'000'000;
  uint64_t stall_timeout_ns = 10'000'000'000;  // without a byte moved while transfers are in flight
  friend bool operator==(const TcpSettings&, const TcpSettings&) = default;
};

// `transports.shm`, beside `enable`.
struct ShmSettings {
  uint32_t copy_threads = 1;
  friend bool operator==(const ShmSettings&, const ShmSettings&) = default;
};

// `staging`, beside what plans depend on. A chunk has PlanSettings::staging_chunk_bytes.
struct StagingSettings {
  uint32_t buffers = 8;  // of a chunk each: so many for this engine's transfers, and as many that it lends to peers
};

// `auth`. What is absent was not set.
struct AuthSettings {
  enum class Mode : uint8_t { kUnset, kToken, kNone };
  Mode mode = Mode::kUnset;
  std::optional<std::string> token_file;
  bool encrypt_data = false;
  friend bool operator==(const AuthSettings&, const AuthSettings&) = default;
};

// What is to be told of Mode::kNone, by whoever makes an engine with it.
inline constexpr std::string_view kOpenWarning =
    "\"none\": everybody who reaches the engine's address may read and write what is registered for peers";

// A configuration as this suite uses it. Immutable once read.
struct EngineConfig {
  std::optional<PolicyName> tenant;               // absent: "default"
  std::optional<ValidationMode> validation_mode;  // absent: strict
  PolicySet policies;
  PlanSettings plan;
  TcpSettings tcp;
  ShmSettings shm;
  StagingSettings staging;
  AuthSettings auth;
  std::optional<std::string> local_segment_name;
  MetadataType metadata_type = MetadataType::kP2p;
  std::string rpc_server_hostname;  // "" unset
  uint16_t rpc_server_port = 0;     // 0: any free one
  std::vector<std::string> file_roots;
};

// Reads a configuration from its parsed text. With an error in `faults` the result must not be used.
EngineConfig readEngineConfig(const JsonValue& document, FaultList& faults);

}  // namespace tent
