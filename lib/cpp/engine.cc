// The C++ API: engines, segments and notifications.
#include "tent/engine.h"

#include "cpp/results.h"

namespace tent {
inline namespace v1 {
namespace {

constexpr size_t kTextMax = 64 * 1024;

// The text that `copy(buffer, size)` gives; "" when it gives none.
template <typename Copy>
std::string textOf(Copy copy) {
  for (size_t size = 256; size <= kTextMax; size *= 4) {
    std::string text(size, '\0');
    if (copy(text.data(), size) == 0) {
      text.resize(text.find('\0'));
      return text;
    }
  }
  return {};
}

}  // namespace

TransferEngine::TransferEngine() : handle_(tent_create_engine()) {
  if (handle_ == nullptr) creation_ = lastStatus();
}

TransferEngine::TransferEngine(const std::string& config) {
  if (hasNul(config)) {
    creation_ = refusal(kBadConfiguration, "the configuration holds a NUL byte: give a path, or a JSON text");
    return;
  }
  tent_load_config_from_file(config.c_str());
  handle_ = tent_create_engine();
  if (handle_ == nullptr) creation_ = lastStatus();
}

TransferEngine::~TransferEngine() {
  close();
}

void TransferEngine::close() {
  // The handle stays: as one that was destroyed it is refused by every function, this one included.
  if (handle_ != nullptr) tent_destroy_engine(handle_);
}

bool TransferEngine::available() const {
  return tent_available(handle_) == 1;
}

std::string TransferEngine::getSegmentName() const {
  return textOf([this](char* buffer, size_t size) { return tent_segment_name(handle_, buffer, size); });
}

std::string TransferEngine::getRpcServerAddress() const {
  return textOf([this](char* buffer, size_t size) {
    uint16_t port = 0;
    return tent_rpc_server_addr_port(handle_, buffer, size, &port);
  });
}

uint16_t TransferEngine::getRpcServerPort() const {
  char address[256];
  uint16_t port = 0;
  return tent_rpc_server_addr_port(handle_, address, sizeof address, &port) == 0 ? port : uint16_t{0};
}

Status TransferEngine::openSegment(SegmentID& handle, const std::string& segment_name) {
  if (hasNul(segment_name)) return refusal(kUnknownSegment, "its name holds a NUL byte");
  return statusOf(tent_open_segment(handle_, &handle, segment_name.c_str()));
}

Status TransferEngine::closeSegment(SegmentID handle) {
  return statusOf(tent_close_segment(handle_, handle));
}

Status TransferEngine::getSegmentInfo(SegmentID handle, SegmentInfo& info) {
  tent_segment_info_t found{};
  if (tent_get_segment_info(handle_, handle, &found) != 0) return lastStatus();
  SegmentInfo segment;
  segment.type = static_cast<SegmentInfo::Type>(found.type);
  for (int i = 0; i < found.num_buffers; ++i) {
    const tent_buffer_info& buffer = found.buffers[i];
    segment.buffers.push_back({buffer.base, buffer.length, buffer.location});
  }
  tent_free_segment_info(&found);
  info = std::move(segment);
  return {};
}

Status TransferEngine::reloadPolicy(const std::string& config, std::string* needs_restart) {
  if (hasNul(config))
    return refusal(kBadConfiguration, "the configuration holds a NUL byte: give a path, or a JSON text");
  tent_result_t result = TENT_RESULT_INIT;
  Status status = statusOf(tent_reload_policy(handle_, config.c_str(), &result));
  if (status.ok() && needs_restart != nullptr) *needs_restart = result.message;
  return status;
}

Status TransferEngine::sendNotification(SegmentID target_id, const Notification& notification) {
  if (Status status = checkNotification(notification); !status.ok()) return status;
  return statusOf(tent_send_notifs(handle_, target_id, notification.name.c_str(), notification.msg.c_str()));
}

Status TransferEngine::receiveNotification(std::vector<Notification>& notifications) {
  tent_notifi_info found{};
  if (tent_recv_notifs(handle_, &found) != 0) return lastStatus();
  notifications.clear();
  for (int i = 0; i < found.num_records; ++i) {
    const tent_notifi_record_t& record = found.records[i];
    notifications.push_back({record.name, record.msg, record.handle});
  }
  tent_free_notifs(&found);
  return {};
}

Status TransferEngine::getNicLoadStats(std::vector<NicLoadStat>& stats) {
  std::vector<tent_nic_load_stat_t> found(16);
  while (true) {
    size_t count = found.size();
    if (tent_get_nic_load_stats(handle_, found.data(), &count) == 0) {
      stats.clear();
      for (size_t i = 0; i < count; ++i) {
        stats.push_back({found[i].device_name, found[i].inflight_bytes, found[i].ewma_bandwidth_bps});
      }
      return {};
    }
    Status status = lastStatus();
    if (status.reason() != TENT_REASON_OUT_OF_RANGE || found.size() > 4096) return status;
    found.resize(found.size() * 2);
  }
}

}  // namespace v1
}  // namespace tent
