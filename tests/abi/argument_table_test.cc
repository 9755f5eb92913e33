// Every function of the C API against every wrong argument that can be noticed: none crashes, none claims success, and
// none writes through an output.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "abi/c_engines.h"

namespace tent::abi_test {
namespace {

// A handle that is none: NULL, made up, or of an engine that has gone.
std::vector<tent_engine_t> badEngines() {
  const tent_engine_t gone = tent_create_engine();
  REQUIRE(gone != nullptr);
  tent_destroy_engine(gone);
  int on_the_stack = 0;
  return {nullptr, reinterpret_cast<void*>(uintptr_t{1}), &on_the_stack, reinterpret_cast<void*>(UINTPTR_MAX), gone};
}

struct Call {
  const char* name;
  std::function<int64_t(tent_engine_t)> made;
  int64_t refused = -1;  // what it returns for a bad handle
};

std::vector<Call> callsOnEngines() {
  static tent_segment_id_t segment;
  static tent_segment_info_t segment_info;
  static tent_notifi_info notifications;
  static tent_status_t status;
  static tent_memory_options_t options;
  static tent_nic_load_stat_t nic;
  static tent_request_t legacy;
  static tent_request_v1_t request = TENT_REQUEST_V1_INIT;
  static tent_result_t result = TENT_RESULT_INIT;
  static char text[64];
  static void* address = text;
  static size_t size = sizeof text;
  static uint16_t port;
  static int fd;
  const int invalid = TENT_ERROR_INVALID_ARGUMENT;
  using E = tent_engine_t;
  return {
      {"available", [](E e) -> int64_t { return tent_available(e); }, 0},
      {"segment_name", [](E e) -> int64_t { return tent_segment_name(e, text, sizeof text); }},
      {"rpc_server_addr_port", [](E e) -> int64_t { return tent_rpc_server_addr_port(e, text, sizeof text, &port); }},
      {"open_segment", [](E e) -> int64_t { return tent_open_segment(e, &segment, "127.0.0.1:1"); }},
      {"close_segment", [](E e) -> int64_t { return tent_close_segment(e, 5); }},
      {"get_segment_info", [](E e) -> int64_t { return tent_get_segment_info(e, 0, &segment_info); }},
      {"allocate_memory", [](E e) -> int64_t { return tent_allocate_memory(e, &address, 64, "cpu"); }},
      {"allocate_memory_ex", [](E e) -> int64_t { return tent_allocate_memory_ex(e, &address, 64, &options); }},
      {"free_memory", [](E e) -> int64_t { return tent_free_memory(e, text); }},
      {"register_memory", [](E e) -> int64_t { return tent_register_memory(e, text, 64); }},
      {"register_memory_with_perm", [](E e) -> int64_t { return tent_register_memory_with_perm(e, text, 64, 0); }},
      {"register_memory_ex", [](E e) -> int64_t { return tent_register_memory_ex(e, text, 64, &options); }},
      {"register_memory_batch", [](E e) -> int64_t { return tent_register_memory_batch(e, &address, &size, 1, 0); }},
      {"register_memory_batch_ex",
       [](E e) -> int64_t { return tent_register_memory_batch_ex(e, &address, &size, 1, &options); }},
      {"unregister_memory", [](E e) -> int64_t { return tent_unregister_memory(e, text, 64); }},
      {"unregister_memory_batch", [](E e) -> int64_t { return tent_unregister_memory_batch(e, &address, &size, 1); }},
      {"allocate_batch", [](E e) { return static_cast<int64_t>(tent_allocate_batch(e, 4)); }, 0},
      {"free_batch", [](E e) -> int64_t { return tent_free_batch(e, 1); }},
      {"submit", [](E e) -> int64_t { return tent_submit(e, 1, &legacy, 1); }},
      {"submit_notif", [](E e) -> int64_t { return tent_submit_notif(e, 1, &legacy, 1, "n", "m"); }},
      {"send_notifs", [](E e) -> int64_t { return tent_send_notifs(e, 0, "n", "m"); }},
      {"recv_notifs", [](E e) -> int64_t { return tent_recv_notifs(e, &notifications); }},
      {"task_status", [](E e) -> int64_t { return tent_task_status(e, 1, 0, &status); }},
      {"task_status_list", [](E e) -> int64_t { return tent_task_status_list(e, 1, &status, &size); }},
      {"overall_status", [](E e) -> int64_t { return tent_overall_status(e, 1, &status); }},
      {"cancel_task", [](E e) -> int64_t { return tent_cancel_task(e, 1, 0); }},
      {"get_nic_load_stats", [](E e) -> int64_t { return tent_get_nic_load_stats(e, &nic, &size); }},
      {"submit_requests", [](E e) -> int64_t { return tent_submit_requests(e, 1, &request, 1, sizeof request, 1); },
       invalid},
      {"submit_requests_notif",
       [](E e) -> int64_t { return tent_submit_requests_notif(e, 1, &request, 1, sizeof request, 1, "n", "m"); },
       invalid},
      {"submit_requests_ex",
       [](E e) -> int64_t { return tent_submit_requests_ex(e, 1, &request, 1, sizeof request, 1, nullptr, &result); },
       invalid},
      {"task_error", [](E e) -> int64_t { return tent_task_error(e, 1, 0, &result); }, invalid},
      {"explain_requests",
       [](E e) -> int64_t { return tent_explain_requests(e, &request, 1, sizeof request, 1, nullptr, text, &size); },
       invalid},
      {"wait_batch", [](E e) -> int64_t { return tent_wait_batch(e, 1, 0); }, invalid},
      {"batch_fd", [](E e) -> int64_t { return tent_batch_fd(e, 1, &fd); }, invalid},
      {"reload_policy", [](E e) -> int64_t { return tent_reload_policy(e, "{}", &result); }, invalid},
  };
}

TEST_CASE("every function refuses a handle that is no engine's") {
  for (const tent_engine_t bad : badEngines()) {
    for (const Call& call : callsOnEngines()) {
      CAPTURE(call.name);
      CHECK(call.made(bad) == call.refused);
      if (std::string(call.name) != "available") CHECK(lastError().reason == TENT_REASON_NULL_ENGINE);
    }
    tent_destroy_engine(bad);
    CHECK(lastError().reason == TENT_REASON_NULL_ENGINE);
  }
}

TEST_CASE("NULL for what is needed is refused, and NULL to what frees is nothing") {
  TwoCEngines two;
  const tent_engine_t e = two.initiator;
  void* address = nullptr;
  size_t size = 64;
  uint16_t port = 0;
  char text[64] = "";
  tent_segment_id_t segment = 0;
  CHECK(tent_segment_name(e, nullptr, 64) == -1);
  CHECK(tent_rpc_server_addr_port(e, nullptr, 64, &port) == -1);
  CHECK(tent_rpc_server_addr_port(e, text, sizeof text, nullptr) == -1);
  CHECK(tent_open_segment(e, nullptr, "127.0.0.1:1") == -1);
  CHECK(tent_open_segment(e, &segment, nullptr) == -1);
  CHECK(tent_get_segment_info(e, two.segment, nullptr) == -1);
  CHECK(tent_allocate_memory(e, nullptr, 64, "cpu") == -1);
  CHECK(tent_allocate_memory_ex(e, &address, 64, nullptr) == -1);
  CHECK(tent_free_memory(e, nullptr) == -1);
  CHECK(tent_register_memory(e, nullptr, 64) == -1);
  CHECK(tent_register_memory_ex(e, text, 64, nullptr) == -1);
  CHECK(tent_register_memory_batch(e, nullptr, &size, 1, 0) == -1);
  CHECK(tent_register_memory_batch(e, &address, nullptr, 1, 0) == -1);
  CHECK(tent_register_memory_batch_ex(e, &address, &size, 1, nullptr) == -1);
  CHECK(tent_unregister_memory(e, nullptr, 64) == -1);
  CHECK(tent_unregister_memory_batch(e, nullptr, &size, 1) == -1);
  CHECK(tent_submit(e, two.batch, nullptr, 1) == -1);
  CHECK(tent_submit_notif(e, two.batch, nullptr, 1, "n", "m") == -1);
  tent_request_t legacy = two.legacy(OPCODE_WRITE);
  CHECK(tent_submit_notif(e, two.batch, &legacy, 1, nullptr, "m") == -1);
  CHECK(tent_submit_notif(e, two.batch, &legacy, 1, "n", nullptr) == -1);
  CHECK(tent_send_notifs(e, two.segment, nullptr, "m") == -1);
  CHECK(tent_send_notifs(e, two.segment, "n", nullptr) == -1);
  CHECK(tent_recv_notifs(e, nullptr) == -1);
  CHECK(tent_task_status(e, two.batch, 0, nullptr) == -1);
  CHECK(tent_task_status_list(e, two.batch, nullptr, nullptr) == -1);
  CHECK(tent_overall_status(e, two.batch, nullptr) == -1);
  CHECK(tent_get_nic_load_stats(e, nullptr, nullptr) == -1);
  CHECK(tent_submit_requests(e, two.batch, nullptr, 1, sizeof(tent_request_v1_t), 1) == TENT_ERROR_INVALID_ARGUMENT);
  CHECK(lastError().reason == TENT_REASON_NULL_ENTRIES);
  CHECK(tent_task_error(e, two.batch, 0, nullptr) == TENT_ERROR_INVALID_ARGUMENT);
  CHECK(tent_explain_requests(e, nullptr, 1, 88, 1, nullptr, nullptr, &size) == TENT_ERROR_INVALID_ARGUMENT);
  CHECK(tent_explain_requests(e, nullptr, 0, 88, 1, nullptr, nullptr, nullptr) == TENT_ERROR_INVALID_ARGUMENT);
  CHECK(tent_batch_fd(e, two.batch, nullptr) == TENT_ERROR_INVALID_ARGUMENT);
  const tent_request_v1_t request = two.request(OPCODE_READ);
  tent_normalized_intent_t intent{};
  intent.struct_size = sizeof intent;
  CHECK(tent_normalize_request(&request, sizeof request, 1, TENT_MODE_STRICT, 0, nullptr) ==
        TENT_ERROR_INVALID_ARGUMENT);
  CHECK(tent_normalize_request(nullptr, sizeof request, 1, TENT_MODE_STRICT, 0, &intent) ==
        TENT_ERROR_INVALID_ARGUMENT);
  CHECK(intent.length == 0);
  CHECK(tent_last_error(nullptr) == TENT_ERROR_INVALID_ARGUMENT);
  CHECK(tent_deadline_after_ns(1, nullptr) == TENT_ERROR_INVALID_ARGUMENT);
  CHECK(address == nullptr);
  tent_free_segment_info(nullptr);
  tent_free_notifs(nullptr);
  tent_load_config_from_file(nullptr);
  CHECK(tent_create_engine() == nullptr);
  tent_set_config(nullptr, "1");
  CHECK(tent_create_engine() == nullptr);
  tent_set_config("tenant", nullptr);
  CHECK(tent_create_engine() == nullptr);
}

TEST_CASE("sizes and counts of 0 and SIZE_MAX") {
  TwoCEngines two;
  const tent_engine_t e = two.initiator;
  void* address = nullptr;
  char text[64] = "";
  void* addresses[1] = {text};
  size_t sizes[1] = {SIZE_MAX};
  tent_memory_options_t options{};
  for (const size_t size : {size_t{0}, SIZE_MAX, SIZE_MAX - 4095}) {
    CAPTURE(size);
    CHECK(tent_allocate_memory(e, &address, size, "cpu") == -1);
    CHECK(tent_allocate_memory_ex(e, &address, size, &options) == -1);
    CHECK(tent_register_memory(e, text, size) == -1);
    CHECK(tent_register_memory_with_perm(e, text, size, PERM_GLOBAL_READ_ONLY) == -1);
    CHECK(tent_register_memory_ex(e, text, size, &options) == -1);
    CHECK(tent_unregister_memory(e, text, size) == -1);
    CHECK(tent_allocate_batch(e, size) == 0);
  }
  CHECK(address == nullptr);
  CHECK(tent_register_memory_batch(e, addresses, sizes, 1, PERM_GLOBAL_READ_WRITE) == -1);
  CHECK(tent_register_memory_batch(e, addresses, sizes, SIZE_MAX, PERM_GLOBAL_READ_WRITE) == -1);
  CHECK(tent_unregister_memory_batch(e, addresses, sizes, SIZE_MAX) == -1);
  CHECK(tent_register_memory_batch(e, nullptr, nullptr, 0, PERM_GLOBAL_READ_WRITE) == 0);
  CHECK(tent_unregister_memory_batch(e, nullptr, nullptr, 0) == 0);

  tent_request_t legacy = two.legacy(OPCODE_WRITE);
  CHECK(tent_submit(e, two.batch, &legacy, SIZE_MAX) == -1);
  CHECK(tent_submit(e, two.batch, nullptr, 0) == 0);
  const tent_request_v1_t request = two.request(OPCODE_WRITE);
  CHECK(tent_submit_v1(e, two.batch, &request, SIZE_MAX) == TENT_ERROR_INVALID_LAYOUT);
  CHECK(lastError().reason == TENT_REASON_COUNT_OVERFLOW);
  CHECK(tent_submit_v1(e, two.batch, &request, 1025) == TENT_ERROR_INVALID_ARGUMENT);
  CHECK(lastError().reason == TENT_REASON_BATCH_FULL);
  CHECK(tent_submit_v1(e, two.batch, nullptr, 0) == TENT_OK);
  tent_status_t status{};
  CHECK(tent_task_status(e, two.batch, SIZE_MAX, &status) == -1);
  CHECK(tent_cancel_task(e, two.batch, SIZE_MAX) == -1);
  size_t count = SIZE_MAX;
  CHECK(tent_task_status_list(e, two.batch, nullptr, &count) == 0);
  CHECK(count == 0);
  for (const uint64_t length : {uint64_t{0}, UINT64_MAX, uint64_t{1} << 62}) {
    tent_request_v1_t odd = two.request(OPCODE_WRITE);
    odd.length = length;
    CHECK(tent_submit_v1(e, two.batch, &odd, 1) == TENT_ERROR_INVALID_ARGUMENT);
  }
}

TEST_CASE("batches and segments that are stale, foreign or made up") {
  TwoCEngines two;
  TwoCEngines other;
  const tent_batch_id_t freed = tent_allocate_batch(two.initiator, 1);
  REQUIRE(tent_free_batch(two.initiator, freed) == 0);
  tent_request_v1_t request = two.request(OPCODE_WRITE);
  tent_request_t legacy = two.legacy(OPCODE_WRITE);
  tent_status_t status{};
  tent_result_t result = TENT_RESULT_INIT;
  size_t count = 1;
  int fd = -7;
  for (const tent_batch_id_t batch : {freed, other.batch, uint64_t{0}, uint64_t{123456789}, UINT64_MAX}) {
    CAPTURE(batch);
    CHECK(tent_submit(two.initiator, batch, &legacy, 1) == -1);
    CHECK(tent_submit_v1(two.initiator, batch, &request, 1) == TENT_ERROR_INVALID_ARGUMENT);
    CHECK(lastError().reason == TENT_REASON_BAD_BATCH);
    CHECK(tent_task_status(two.initiator, batch, 0, &status) == -1);
    CHECK(tent_task_status_list(two.initiator, batch, &status, &count) == -1);
    CHECK(tent_overall_status(two.initiator, batch, &status) == -1);
    CHECK(tent_cancel_task(two.initiator, batch, 0) == -1);
    CHECK(tent_task_error(two.initiator, batch, 0, &result) == TENT_ERROR_INVALID_ARGUMENT);
    CHECK(tent_wait_batch(two.initiator, batch, UINT64_MAX) == TENT_ERROR_INVALID_ARGUMENT);
    CHECK(tent_batch_fd(two.initiator, batch, &fd) == TENT_ERROR_INVALID_ARGUMENT);
    CHECK(tent_free_batch(two.initiator, batch) == -1);
  }
  CHECK(fd == -7);
  CHECK(count == 1);
  tent_segment_info_t info{};
  for (const tent_segment_id_t segment : {other.segment, uint64_t{123456789}, UINT64_MAX}) {
    CAPTURE(segment);
    CHECK(tent_close_segment(two.initiator, segment) == -1);
    CHECK(tent_get_segment_info(two.initiator, segment, &info) == -1);
    CHECK(tent_send_notifs(two.initiator, segment, "n", "m") == -1);
    request.target_id = segment;
    CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_ERROR_INVALID_ARGUMENT);
    CHECK(lastError().reason == TENT_REASON_UNKNOWN_SEGMENT);
  }
  CHECK(info.buffers == nullptr);
}

TEST_CASE("memory that is freed twice, foreign or unregistered") {
  TwoCEngines two;
  void* memory = nullptr;
  REQUIRE(tent_allocate_memory(two.initiator, &memory, 8192, "") == 0);
  CHECK(tent_free_memory(two.target, memory) == -1);
  CHECK(tent_free_memory(two.initiator, static_cast<char*>(memory) + 1) == -1);
  CHECK(tent_register_memory(two.initiator, memory, 8192) == 0);
  CHECK(tent_unregister_memory(two.initiator, memory, 8192) == 0);
  CHECK(tent_free_memory(two.initiator, memory) == 0);
  CHECK(tent_free_memory(two.initiator, memory) == -1);
  char text[64];
  CHECK(tent_unregister_memory(two.initiator, text, sizeof text) == -1);
  CHECK(tent_register_memory_with_perm(two.initiator, text, sizeof text, 3) == -1);
  CHECK(tent_register_memory_with_perm(two.initiator, text, sizeof text, -1) == -1);
  tent_memory_options_t options{};
  std::memset(options.location, 'x', sizeof options.location);  // not terminated
  CHECK(tent_register_memory_ex(two.initiator, text, sizeof text, &options) == -1);
  options = {};
  options.transport_type = TRANSPORT_RDMA;
  CHECK(tent_register_memory_ex(two.initiator, text, sizeof text, &options) == -1);
  options = {};
  options.shm_path[0] = 'x';
  CHECK(tent_register_memory_ex(two.initiator, text, sizeof text, &options) == -1);
  options = {};
  options.internal = 1;
  CHECK(tent_register_memory_ex(two.initiator, text, sizeof text, &options) == -1);
  CHECK(tent_allocate_memory(two.initiator, &memory, 64, "cuda:0") == -1);
  CHECK(tent_allocate_memory(two.initiator, &memory, 64, "nowhere") == -1);

  // All or nothing: the good one is not left registered.
  char other[64];
  void* addresses[] = {text, other, nullptr};
  size_t sizes[] = {64, 64, 64};
  CHECK(tent_register_memory_batch(two.initiator, addresses, sizes, 3, PERM_GLOBAL_READ_WRITE) == -1);
  CHECK(lastError().index == 2);
  CHECK(tent_unregister_memory(two.initiator, text, 64) == -1);
}

// From memory of the initiator's library to memory of the target's, and large enough to be under way for a while.
struct LongTransfer {
  static constexpr size_t kLongBytes = size_t{64} << 20;
  CEngine initiator;
  tent_engine_t target = tent_create_engine();
  void* local = nullptr;
  tent_batch_id_t batch = 0;

  LongTransfer() {
    char name[256];
    void* remote = nullptr;
    tent_request_v1_t request = TENT_REQUEST_V1_INIT;
    REQUIRE(tent_segment_name(target, name, sizeof name) == 0);
    REQUIRE(tent_open_segment(initiator, &request.target_id, name) == 0);
    REQUIRE(tent_allocate_memory(initiator, &local, kLongBytes, "cpu") == 0);
    REQUIRE(tent_allocate_memory(target, &remote, kLongBytes, "cpu") == 0);
    batch = tent_allocate_batch(initiator, 1);
    request.opcode = OPCODE_WRITE;
    request.source = local;
    request.target_offset = reinterpret_cast<uint64_t>(remote);
    request.length = kLongBytes;
    REQUIRE(tent_submit_v1(initiator, batch, &request, 1) == TENT_OK);
  }
  LongTransfer(const LongTransfer&) = delete;
  LongTransfer& operator=(const LongTransfer&) = delete;
  ~LongTransfer() { tent_destroy_engine(target); }

  int finish() {
    REQUIRE(tent_wait_batch(initiator, batch, 10'000'000'000) == TENT_OK);
    tent_status_t status{};
    REQUIRE(tent_task_status(initiator, batch, 0, &status) == 0);
    return status.status;
  }
};

TEST_CASE("a target that is destroyed in this process lets go of its memory only once nothing copies to it") {
  for (int round = 0; round < 5; ++round) {
    LongTransfer transfer;
    tent_destroy_engine(transfer.target);
    const int status = transfer.finish();
    CHECK((status == STATUS_FAILED || status == STATUS_COMPLETED));
  }
}

TEST_CASE("memory that the library allocated is not freed under a task") {
  for (int round = 0; round < 5; ++round) {
    LongTransfer transfer;
    const int freed = tent_free_memory(transfer.initiator, transfer.local);
    if (freed != 0) CHECK(lastError().reason == TENT_REASON_REGISTRATION_FAILED);
    CHECK(transfer.finish() == STATUS_COMPLETED);
    CHECK(tent_free_memory(transfer.initiator, transfer.local) == (freed == 0 ? -1 : 0));
  }
}

TEST_CASE("many threads at once, while the engine is destroyed") {
  for (int round = 0; round < 5; ++round) {
    auto two = std::make_unique<TwoCEngines>();
    const tent_engine_t engine = two->initiator;
    std::vector<std::thread> threads;
    std::atomic<int> refused{0};
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        const tent_request_v1_t request = two->request(OPCODE_WRITE, static_cast<size_t>(i) * 4096, 4096);
        while (tent_available(engine) == 1) {
          const tent_batch_id_t batch = tent_allocate_batch(engine, 1);
          if (batch == 0) continue;
          if (tent_submit_v1(engine, batch, &request, 1) != TENT_OK) continue;
          tent_wait_batch(engine, batch, UINT64_MAX);
          tent_free_batch(engine, batch);
        }
        ++refused;
      });
    }
    std::this_thread::yield();
    tent_destroy_engine(engine);
    for (std::thread& thread : threads) thread.join();
    CHECK(refused == 8);
    tent_destroy_engine(engine);  // twice
  }
}

}  // namespace
}  // namespace tent::abi_test
