#include "config/unused_keys.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "config/value_fields.h"

namespace tent {
namespace {

enum class Type : uint8_t { kBool, kString, kCount, kPort, kNumber, kLevel, kServers };

struct DeployedKey {
  std::string_view pointer;
  Type type;
};

constexpr std::array kDeployedKeys{
    DeployedKey{"/metadata_servers", Type::kServers},
    DeployedKey{"/log_level", Type::kLevel},
    DeployedKey{"/enable_auto_failover_on_poll", Type::kBool},
    DeployedKey{"/enable_progress_worker", Type::kBool},
    DeployedKey{"/metrics/enabled", Type::kBool},
    DeployedKey{"/metrics/http_port", Type::kPort},
    DeployedKey{"/metrics/http_host", Type::kString},
    DeployedKey{"/metrics/http_server_threads", Type::kCount},
    DeployedKey{"/metrics/report_interval_seconds", Type::kNumber},
    DeployedKey{"/transports/rdma/device/port", Type::kCount},
    DeployedKey{"/transports/rdma/device/max_cqe", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/max_sge", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/max_qp_wr", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/max_inline_bytes", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/path_mtu", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/pkey_index", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/hop_limit", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/max_rd_atomic", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/send_timeout", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/send_retry_count", Type::kCount},
    DeployedKey{"/transports/rdma/endpoint/send_rnr_count", Type::kCount},
    DeployedKey{"/transports/rdma/workers/max_retry_count", Type::kCount},
};

void checkServers(ObjectReader& object, std::string_view key, const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kArray) {
    readStrings(object, key);
  } else if (value.kind != JsonValue::Kind::kString) {
    object.fault(key, fmt::format("expected a string or an array of strings, found {}", describe(value.kind)));
  }
}

void checkLevel(ObjectReader& object, std::string_view key, const JsonValue& value) {
  if (value.kind != JsonValue::Kind::kString && value.kind != JsonValue::Kind::kUnsigned) {
    object.fault(key, fmt::format("expected a level's name or number, found {}", describe(value.kind)));
  }
}

void checkType(ObjectReader& object, std::string_view key, Type type) {
  const JsonValue* value = object.take(key);
  switch (type) {
    case Type::kBool: object.boolean(key); break;
    case Type::kString: object.string(key); break;
    case Type::kCount: object.unsignedInteger(key, 0, UINT32_MAX); break;
    case Type::kPort: object.unsignedInteger(key, 0, UINT16_MAX); break;
    case Type::kNumber: object.number(key, 0, 1e9); break;
    case Type::kLevel: checkLevel(object, key, *value); break;
    case Type::kServers: checkServers(object, key, *value); break;
  }
}

}  // namespace

void UnusedKeys::collect(ObjectReader& object, std::vector<std::string_view> used) {
  std::vector<std::string_view> siblings = std::move(used);
  for (const DeployedKey& deployed : kDeployedKeys) {
    const size_t slash = deployed.pointer.rfind('/');
    if (deployed.pointer.substr(0, slash) == object.pointer()) siblings.push_back(deployed.pointer.substr(slash + 1));
  }
  for (const std::string& key : object.unknownKeys()) {
    const std::string pointer = object.pointerOf(key);
    const auto* const deployed = std::ranges::find(kDeployedKeys, pointer, &DeployedKey::pointer);
    if (deployed != kDeployedKeys.end()) {
      checkType(object, key, deployed->type);
      unused_.push_back(pointer);
      continue;
    }
    rejectNulls(*object.take(key), pointer, object.faults());
    const std::optional<std::string_view> meant = didYouMean(key, siblings);
    unknown_.push_back(meant ? fmt::format("{} (did you mean \"{}\"?)", pointer, *meant) : pointer);
  }
}

void UnusedKeys::report(TextPosition position, FaultList& faults) {
  if (unused_.empty() && unknown_.empty()) return;
  std::ranges::sort(unused_);
  std::ranges::sort(unknown_);
  std::string message;
  if (!unused_.empty()) message = fmt::format("this build does not use {}", fmt::join(unused_, ", "));
  if (!unknown_.empty()) {
    message += fmt::format("{}unknown, so without effect: {}", message.empty() ? "" : "; ", fmt::join(unknown_, ", "));
  }
  faults.warning(position, "", std::move(message));
}

}  // namespace tent
