// The C API: engines, segments, notifications, and this thread's last error.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi/arguments.h"
#include "abi/handles.h"
#include "abi/pending_config.h"
#include "abi/result.h"
#include "base/clock.h"
#include "engine/address.h"
#include "intent/entry.h"
#include "intent/normalize.h"

using namespace tent;
using namespace tent::abi;

namespace {

// An array for a caller who gives it back to free(3); never empty, so that NULL is always a lack of memory.
template <typename T>
T* allocateArray(size_t count) {
  void* memory = std::calloc(count == 0 ? 1 : count, sizeof(T));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

template <size_t Size>
void copyInto(char (&array)[Size], const std::string& text) {
  std::memcpy(array, text.data(), std::min(text.size(), Size - 1));
}

}  // namespace

extern "C" {

void tent_load_config_from_file(const char* path) {
  legacyCall([&]() -> Error {
    setConfigSource(path);
    return path == nullptr ? nullArgument("path") : Error{};
  });
}

void tent_set_config(const char* key, const char* value) {
  legacyCall([&]() -> Error {
    setConfigKey(key, value);
    return key == nullptr || value == nullptr ? nullArgument(key == nullptr ? "key" : "value") : Error{};
  });
}

tent_engine_t tent_create_engine() {
  tent_engine_t handle = nullptr;
  legacyCall([&]() -> Error {
    auto config = takeConfig();
    if (!config) return std::move(config.error());
    auto engine = Engine::create(*std::move(config));
    if (!engine) return std::move(engine.error());
    if ((*engine)->config().auth.mode == AuthSettings::Mode::kNone) {
      std::fprintf(stderr, "tent: %s: warning: auth.mode %s\n", (*engine)->address().c_str(), kOpenWarning.data());
    }
    handle = addEngine(*std::move(engine));
    return {};
  });
  return handle;
}

void tent_destroy_engine(tent_engine_t engine) {
  legacyCall([&] { return destroyEngine(engine) ? Error{} : noSuchEngine(engine); });
}

int tent_available(tent_engine_t engine) {
  int available = 0;
  legacyCall([&]() -> Error {
    available = EngineCall(engine) ? 1 : 0;
    return {};
  });
  return available;
}

int tent_segment_name(tent_engine_t engine, char* buf, size_t len) {
  return legacyCallOn(engine, [&](Engine& on) { return copyText(on.segmentName(), buf, len); });
}

int tent_rpc_server_addr_port(tent_engine_t engine, char* buf, size_t len, uint16_t* port) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    if (port == nullptr) return nullArgument("port");
    const HostPort where = parseAddress(on.address()).value();
    Error error = copyText(where.host, buf, len);
    if (!error) *port = where.port;
    return error;
  });
}

int tent_open_segment(tent_engine_t engine, tent_segment_id_t* handle, const char* name) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    if (handle == nullptr || name == nullptr) return nullArgument(handle == nullptr ? "handle" : "name");
    auto opened = on.openSegment(name);
    if (!opened) return std::move(opened.error());
    *handle = *opened;
    return {};
  });
}

int tent_close_segment(tent_engine_t engine, tent_segment_id_t handle) {
  return legacyCallOn(engine, [&](Engine& on) { return on.closeSegment(handle); });
}

int tent_get_segment_info(tent_engine_t engine, tent_segment_id_t handle, tent_segment_info_t* info) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    if (info == nullptr) return nullArgument("info");
    auto segment = on.segmentInfo(handle);
    if (!segment) return std::move(segment.error());
    auto* const buffers = allocateArray<tent_buffer_info>(segment->buffers.size());
    for (size_t i = 0; i < segment->buffers.size(); ++i) {
      buffers[i].base = segment->buffers[i].base;
      buffers[i].length = segment->buffers[i].length;
      copyInto(buffers[i].location, toString(segment->buffers[i].location));
    }
    *info = {TYPE_MEMORY, static_cast<int>(segment->buffers.size()), buffers};
    return {};
  });
}

void tent_free_segment_info(tent_segment_info_t* info) {
  if (info == nullptr) return;
  std::free(info->buffers);
  *info = {};
}

int tent_send_notifs(tent_engine_t engine, tent_segment_id_t segment, const char* name, const char* message) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    auto notification = readNotification(name, message);
    return notification ? on.sendNotification(segment, *notification) : std::move(notification.error());
  });
}

int tent_recv_notifs(tent_engine_t engine, tent_notifi_info* info) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    if (info == nullptr) return nullArgument("info");
    const std::vector<Notification> arrived = on.receiveNotifications();
    auto* const records = allocateArray<tent_notifi_record>(arrived.size());
    for (size_t i = 0; i < arrived.size(); ++i) {
      records[i].handle = arrived[i].sender;
      copyInto(records[i].name, arrived[i].name);
      copyInto(records[i].msg, arrived[i].message);
    }
    *info = {static_cast<int>(arrived.size()), records};
    return {};
  });
}

void tent_free_notifs(tent_notifi_info* info) {
  if (info == nullptr) return;
  std::free(info->records);
  *info = {};
}

int tent_get_nic_load_stats(tent_engine_t engine, tent_nic_load_stat_t* /*stats*/, size_t* count) {
  return legacyCallOn(engine, [&](Engine& /*on*/) -> Error {
    if (count == nullptr) return nullArgument("count");
    *count = 0;  // no transport of this build has a NIC of its own
    return {};
  });
}

int tent_reload_policy(tent_engine_t engine, const char* source, tent_result_t* result) {
  if (const Error wrong = checkResult(result)) return call([&] { return wrong; });
  std::string left;
  const int32_t code = callOn(engine, [&](Engine& on) -> Error {
    if (source == nullptr) return nullArgument("source");
    auto config = readConfig(source);
    if (!config) return std::move(config.error());
    for (const std::string& key : on.reloadPolicy(*std::move(config))) left += (left.empty() ? "" : ", ") + key;
    return {};
  });
  return answer(code, result, left);
}

int tent_last_error(tent_result_t* result) {
  return call([&]() -> Error {
    if (result == nullptr) return nullArgument("result");
    if (Error error = checkResult(result)) return error;
    writeResult(lastFailure(), result);
    return {};
  });
}

uint32_t tent_get_api_version() {
  return TENT_API_VERSION;
}

int tent_get_request_schema_info(uint32_t schema_version, size_t* minimum_size, size_t* known_size) {
  return call([&]() -> Error {
    const SchemaInfo* schema = schemaInfo(schema_version);
    if (schema == nullptr) return {Reason::kSchemaUnknown, Field::kSchemaVersion, -1, uint64_t{schema_version}, {}};
    if (minimum_size != nullptr) *minimum_size = schema->minimum_size;
    if (known_size != nullptr) *known_size = schema->known_size;
    return {};
  });
}

uint64_t tent_monotonic_now_ns() {
  return monotonicNowNs();
}

int tent_deadline_after_ns(uint64_t budget_ns, uint64_t* deadline_ns_out) {
  return call([&]() -> Error {
    if (deadline_ns_out == nullptr) return nullArgument("deadline_ns_out");
    const auto deadline_ns = deadlineAfter(monotonicNowNs(), budget_ns);
    if (!deadline_ns) return {deadline_ns.error(), Field::kDeadlineNs, -1, budget_ns, {}};
    *deadline_ns_out = *deadline_ns;
    return {};
  });
}

}  // extern "C"
