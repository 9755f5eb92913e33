// What the C API tells of a call that is refused: the cause that it had, once, and nothing that a terminal would obey.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "abi/c_engines.h"

namespace tent::abi_test {
namespace {

struct Refused {
  std::string what;
  std::function<void()> call;
  int reason;
  const char* message;  // how it begins
};

void check(const std::vector<Refused>& table) {
  for (const Refused& one : table) {
    CAPTURE(one.what);
    one.call();
    const tent_result_t error = lastError();
    CHECK(error.reason == one.reason);
    CHECK_MESSAGE(std::string(error.message).rfind(one.message, 0) == 0, error.message);
  }
}

TEST_CASE("an engine that is NULL and one that there is none of are told apart") {
  const tent_engine_t gone = tent_create_engine();
  tent_destroy_engine(gone);
  const std::string never = "there is no such engine: it was destroyed, or its handle is none";
  check({
      {"NULL", [] { tent_allocate_batch(nullptr, 1); }, TENT_REASON_NULL_ENGINE, "the engine is NULL"},
      {"destroyed", [&] { tent_allocate_batch(gone, 1); }, TENT_REASON_NULL_ENGINE, never.c_str()},
      {"destroyed twice", [&] { tent_destroy_engine(gone); }, TENT_REASON_NULL_ENGINE, never.c_str()},
      {"made up", [] { tent_batch_fd(reinterpret_cast<void*>(uintptr_t{64}), 1, nullptr); }, TENT_REASON_NULL_ENGINE,
       never.c_str()},
  });
}

TEST_CASE("a pointer that is NULL is named") {
  TwoCEngines two;
  const tent_engine_t e = two.initiator;
  void* address = nullptr;
  size_t size = 64;
  uint16_t port = 0;
  char text[64] = "";
  tent_segment_id_t segment = 0;
  const tent_request_v1_t request = two.request(OPCODE_READ);
  const int null = TENT_REASON_NULL_ENTRIES;
  const int memory = TENT_REASON_REGISTRATION_FAILED;
  check({
      {"segment_name", [&] { tent_segment_name(e, nullptr, 64); }, null, "buf is NULL"},
      {"rpc_server_addr_port, buf", [&] { tent_rpc_server_addr_port(e, nullptr, 64, &port); }, null, "buf is NULL"},
      {"rpc_server_addr_port", [&] { tent_rpc_server_addr_port(e, text, 64, nullptr); }, null, "port is NULL"},
      {"open_segment", [&] { tent_open_segment(e, nullptr, "127.0.0.1:1"); }, null, "handle is NULL"},
      {"open_segment, name", [&] { tent_open_segment(e, &segment, nullptr); }, null, "name is NULL"},
      {"get_segment_info", [&] { tent_get_segment_info(e, 0, nullptr); }, null, "info is NULL"},
      {"recv_notifs", [&] { tent_recv_notifs(e, nullptr); }, null, "info is NULL"},
      {"task_status", [&] { tent_task_status(e, two.batch, 0, nullptr); }, null, "status is NULL"},
      {"task_status_list", [&] { tent_task_status_list(e, two.batch, nullptr, nullptr); }, null, "count is NULL"},
      {"nic stats", [&] { tent_get_nic_load_stats(e, nullptr, nullptr); }, null, "count is NULL"},
      {"batch_fd", [&] { tent_batch_fd(e, two.batch, nullptr); }, null, "fd is NULL"},
      {"task_error", [&] { tent_task_error(e, two.batch, 0, nullptr); }, null, "result is NULL"},
      {"last_error", [] { tent_last_error(nullptr); }, null, "result is NULL"},
      {"deadline", [] { tent_deadline_after_ns(1, nullptr); }, null, "deadline_ns_out is NULL"},
      {"normalize", [&] { tent_normalize_request(&request, 88, 1, 0, 0, nullptr); }, null, "out is NULL"},
      {"explain", [&] { tent_explain_requests(e, &request, 1, 88, 1, nullptr, nullptr, nullptr); }, null,
       "len is NULL"},
      {"submit", [&] { tent_submit(e, two.batch, nullptr, 1); }, null, "entries is NULL and count is not 0"},
      {"v1 submit", [&] { tent_submit_v1(e, two.batch, nullptr, 1); }, null, "entries is NULL and count is not 0"},
      {"notification, name", [&] { tent_send_notifs(e, two.segment, nullptr, "m"); }, TENT_REASON_NULL_NOTIFICATION,
       "the name of the notification is NULL"},
      {"notification, message", [&] { tent_send_notifs(e, two.segment, "n", nullptr); }, TENT_REASON_NULL_NOTIFICATION,
       "the message of the notification is NULL"},
      {"allocate", [&] { tent_allocate_memory(e, nullptr, 64, ""); }, memory,
       "the memory could not be registered or released: addr is NULL"},
      {"allocate_ex", [&] { tent_allocate_memory_ex(e, &address, 64, nullptr); }, memory,
       "the memory could not be registered or released: options is NULL"},
      {"register", [&] { tent_register_memory(e, nullptr, 64); }, memory,
       "the memory could not be registered or released: the address is NULL"},
      {"register_batch", [&] { tent_register_memory_batch(e, nullptr, &size, 1, 0); }, memory,
       "the memory could not be registered or released: addrs is NULL"},
      {"unregister_batch", [&] { tent_unregister_memory_batch(e, &address, nullptr, 1); }, memory,
       "the memory could not be registered or released: sizes is NULL"},
      {"free", [&] { tent_free_memory(e, nullptr); }, memory,
       "the memory could not be registered or released: it is not the start of memory"},
  });
}

TEST_CASE("the cause is told that a call had, and once") {
  TwoCEngines two;
  const tent_engine_t e = two.initiator;
  char text[2] = "";
  void* address = nullptr;
  tent_status_t status{};
  size_t count = 0;
  tent_request_v1_t request = two.request(OPCODE_WRITE, 0, TwoCEngines::kBytes);
  REQUIRE(tent_submit_v1(e, two.batch, &request, 1) == TENT_OK);
  REQUIRE(two.wait() == TENT_OK);
  tent_submit_options_t options = TENT_SUBMIT_OPTIONS_INIT;
  options.mode = 7;
  tent_explain_options_t odd = TENT_EXPLAIN_OPTIONS_INIT;
  odd.surface = 9;
  tent_explain_options_t environment = TENT_EXPLAIN_OPTIONS_INIT;
  environment.environment = "{]";
  size_t len = 0;
  const std::string long_text(5000, 'x');
  check({
      {"a short text buffer", [&] { tent_segment_name(e, text, sizeof text); }, TENT_REASON_OUT_OF_RANGE,
       "the buffer is too short: it has room for 2, and "},
      {"a short list", [&] { tent_task_status_list(e, two.batch, &status, &count); }, TENT_REASON_OUT_OF_RANGE,
       "the array is too short: it has room for 0, and 1 are needed"},
      {"no batch", [&] { tent_free_batch(e, 999'999); }, TENT_REASON_BAD_BATCH, "there is no such batch"},
      {"no task", [&] { tent_task_status(e, two.batch, 5, &status); }, TENT_REASON_BAD_BATCH,
       "the batch has no task 5: it has 1, counted from 0"},
      {"a full batch", [&] { tent_submit_v1(e, tent_allocate_batch(e, 1), std::vector(2, request).data(), 2); },
       TENT_REASON_BATCH_FULL,
       "the batch has no room for these requests; allocate a larger one: 2 are submitted, and it has room for 1 more"},
      {"a batch for none", [&] { tent_allocate_batch(e, 0); }, TENT_REASON_RESOURCE_EXHAUSTED,
       "a batch for 0 tasks cannot be had: it has room for 1 to 1048576"},
      {"no segment", [&] { tent_close_segment(e, 999'999); }, TENT_REASON_UNKNOWN_SEGMENT,
       "there is no such segment; open it first"},
      {"no name", [&] { tent_open_segment(e, &two.segment, "no\x1b[31m name"); }, TENT_REASON_UNKNOWN_SEGMENT,
       "\"no\\x1b[31m name\" names no segment: it is called host:port"},
      {"a mode", [&] { tent_submit_requests_ex(e, two.batch, &request, 1, 88, 1, &options, nullptr); },
       TENT_REASON_UNKNOWN_FLAGS, "mode 7 is none of TENT_MODE_*"},
      {"a surface", [&] { tent_explain_requests(e, &request, 1, 88, 1, &odd, nullptr, &len); },
       TENT_REASON_UNKNOWN_FLAGS, "surface 9 is none of TENT_SURFACE_*"},
      {"an environment", [&] { tent_explain_requests(e, &request, 1, 88, 1, &environment, nullptr, &len); },
       TENT_REASON_BAD_CONFIGURATION, "the environment of the options cannot be used: environment:1:2"},
      {"too many addresses", [&] { tent_register_memory_batch(e, &address, &len, SIZE_MAX, 0); },
       TENT_REASON_COUNT_OVERFLOW, "count 18446744073709551615: so many elements are more than"},
      {"a long name", [&] { tent_send_notifs(e, two.segment, long_text.c_str(), "m"); },
       TENT_REASON_NOTIFICATION_TOO_LONG,
       "the notification is too long: a name has at most 255 bytes, a message 4095: its name has more"},
      {"a location", [&] { tent_allocate_memory(e, &address, 64, "gpu\n7"); }, TENT_REASON_REGISTRATION_FAILED,
       "the memory could not be registered or released: location \"gpu\\x0a7\" is none"},
      {"absurd memory", [&] { tent_allocate_memory(e, &address, size_t{1} << 46, ""); }, TENT_REASON_RESOURCE_EXHAUSTED,
       "a resource limit of this process or host was reached: shared memory: 70368744177664 bytes cannot be had: "},
  });
  CHECK(address == nullptr);
}

TEST_CASE("no message holds bytes that a terminal obeys, or ends in the middle of a character") {
  TwoCEngines two;
  tent_request_v1_t request = two.request(OPCODE_WRITE);
  const auto is_safe = [](const char* message) {
    const std::string text = message;
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
  };
  const std::vector<std::pair<const char*, const char*>> names{
      {"a\nb", "\"a\\x0ab\""}, {"a\x1b[2Jb", "\"a\\x1b[2Jb\""}, {"\xff", "\"\\xff\""}, {"\x7f", "\"\\x7f\""}};
  for (const auto& [name, shown] : names) {
    request.policy_name = name;
    CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_ERROR_INVALID_POLICY);
    const tent_result_t error = lastError();
    CHECK_MESSAGE(std::string(error.message).find(shown) != std::string::npos, error.message);
    CHECK(is_safe(error.message));
  }
  tent_load_config_from_file("/no\x1b[31mwhere\n");
  CHECK(tent_create_engine() == nullptr);
  CHECK(std::string(lastError().message).find("/no\\x1b[31mwhere\\x0a") != std::string::npos);
  CHECK(is_safe(lastError().message));
  tent_set_config("transports/\x1b[1m/enable", "1");
  const tent_engine_t warned = tent_create_engine();
  if (warned == nullptr) CHECK(is_safe(lastError().message));
  tent_destroy_engine(warned);
  // Two bytes each: one of them would be cut where 511 end.
  std::string path = "/";
  for (int i = 0; i < 400; ++i) path += "\u00e9";
  for (int shift = 0; shift < 2; ++shift, path += 'x') {
    tent_load_config_from_file(path.c_str());
    CHECK(tent_create_engine() == nullptr);
    const std::string message = lastError().message;
    CHECK(message.size() < sizeof(tent_result_t::message));
    CHECK(message.substr(message.size() - 3) == "...");
    CHECK(static_cast<unsigned char>(message[message.size() - 4]) != 0xc3);
  }
  CHECK(tent_open_segment(two.initiator, &two.segment, "no\x1bhost.invalid:1") == -1);
  CHECK(is_safe(lastError().message));
}

}  // namespace
}  // namespace tent::abi_test
