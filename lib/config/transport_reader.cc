#include "config/transport_reader.h"

#include "config/fields.h"
#include "config/rdma_reader.h"
#include "config/value_fields.h"

namespace tent {
namespace {

constexpr uint64_t kTcpStreamsMax = 16;
constexpr uint64_t kCopyThreadsMax = 64;
constexpr uint64_t kTimeoutMaxMs = 3'600'000;
constexpr uint64_t kNsPerMs = 1'000'000;

void readMilliseconds(ObjectReader& object, std::string_view key, uint64_t& ns) {
  if (const auto value = object.unsignedInteger(key, 1, kTimeoutMaxMs)) ns = *value * kNsPerMs;
}

void readTcpSection(ObjectReader& tcp, UnusedKeys& unused, TcpSettings& settings) {
  settings.port = static_cast<uint16_t>(tcp.unsignedInteger("port", 0, UINT16_MAX).value_or(settings.port));
  settings.streams =
      static_cast<uint32_t>(tcp.unsignedInteger("streams", 1, kTcpStreamsMax).value_or(settings.streams));
  readMilliseconds(tcp, "connect_timeout_ms", settings.connect_timeout_ns);
  readMilliseconds(tcp, "stall_timeout_ms", settings.stall_timeout_ns);
  unused.collect(tcp, {"enable", "port", "streams", "connect_timeout_ms", "stall_timeout_ms"});
}

void readShmSection(ObjectReader& shm, UnusedKeys& unused, ShmSettings& settings) {
  settings.copy_threads =
      static_cast<uint32_t>(shm.unsignedInteger("copy_threads", 1, kCopyThreadsMax).value_or(settings.copy_threads));
  unused.collect(shm, {"enable", "copy_threads"});
}

}  // namespace

void readTransportSections(const JsonValue& value, const std::string& pointer, FaultList& faults, UnusedKeys& unused,
                           EngineConfig& config) {
  ObjectReader sections(value, pointer, faults);
  for (const std::string_view name : transportNames()) {
    const JsonValue* section = sections.take(name);
    if (!section) continue;
    ObjectReader object(*section, sections.pointerOf(name), faults);
    const Transport transport = *valueOfName<Transport>(name);
    if (!object.boolean("enable").value_or(true)) config.plan.disabled.add(transport);
    switch (transport) {
      case Transport::kRdma: readRdmaSection(object, unused, config.policies, config.plan); break;
      case Transport::kTcp: readTcpSection(object, unused, config.tcp); break;
      case Transport::kShm: readShmSection(object, unused, config.shm); break;
      default: unused.collect(object, {"enable"}); break;
    }
  }
  unused.collect(sections, {transportNames().begin(), transportNames().end()});
}

}  // namespace tent
