// What the C API does: transfers, explanations, discovery, and what deployed libraries got wrong.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>

#include <poll.h>

#include "abi/c_engines.h"

namespace tent::abi_test {
namespace {

TEST_CASE("a legacy write and a v1 read bring the bytes there and back") {
  TwoCEngines two;
  std::iota(two.local.begin(), two.local.end(), static_cast<unsigned char>(1));
  tent_request_t write = two.legacy(OPCODE_WRITE, 0, TwoCEngines::kBytes);
  REQUIRE(tent_submit(two.initiator, two.batch, &write, 1) == 0);
  REQUIRE(two.wait() == TENT_OK);
  CHECK(two.statusOf(0) == STATUS_COMPLETED);
  CHECK(std::equal(two.local.begin(), two.local.end(), two.remote));

  std::reverse(two.remote, two.remote + TwoCEngines::kBytes);
  const tent_request_v1_t read = two.request(OPCODE_READ, 0, TwoCEngines::kBytes);
  REQUIRE(tent_submit_v1(two.initiator, two.batch, &read, 1) == TENT_OK);
  REQUIRE(two.wait() == TENT_OK);
  CHECK(std::equal(two.local.begin(), two.local.end(), two.remote));
  tent_status_t all{};
  REQUIRE(tent_overall_status(two.initiator, two.batch, &all) == 0);
  CHECK(all.status == STATUS_COMPLETED);
  CHECK(all.transferred_bytes == 2 * TwoCEngines::kBytes);
}

TEST_CASE("each transport that is built can be pinned, shm too") {
  for (const int transport : {TRANSPORT_SHM, TRANSPORT_TCP}) {
    CAPTURE(transport);
    TwoCEngines two;
    two.local[5] = 42;
    tent_request_v1_t write = two.request(OPCODE_WRITE);
    write.transport_hint = transport;
    REQUIRE(tent_submit_v1(two.initiator, two.batch, &write, 1) == TENT_OK);
    REQUIRE(two.wait() == TENT_OK);
    CHECK(two.statusOf(0) == STATUS_COMPLETED);
    CHECK(two.remote[5] == 42);
  }
}

TEST_CASE("a batch's descriptor becomes readable when its tasks have ended") {
  TwoCEngines two;
  int fd = -1;
  REQUIRE(tent_batch_fd(two.initiator, two.batch, &fd) == TENT_OK);
  const tent_request_v1_t write = two.request(OPCODE_WRITE, 0, TwoCEngines::kBytes);
  REQUIRE(tent_submit_v1(two.initiator, two.batch, &write, 1) == TENT_OK);
  pollfd waits{fd, POLLIN, 0};
  REQUIRE(poll(&waits, 1, 10'000) == 1);
  CHECK(two.statusOf(0) == STATUS_COMPLETED);
  CHECK(tent_free_batch(two.initiator, two.batch) == 0);
  CHECK(tent_free_batch(two.initiator, two.batch) == -1);
  CHECK(std::string(lastError().reason_name) == "bad_batch");
}

TEST_CASE("a request is normalized without an engine, as far as the caller's struct goes") {
  char memory[64];
  tent_request_v1_t request = TENT_REQUEST_V1_INIT;
  request.source = memory;
  request.length = sizeof memory;
  request.intent_type = TENT_INTENT_MIGRATION;
  request.deadline_ns = 1'500;
  request.policy_name = "bulk";
  request.flags = uint64_t{1} << 63;
  tent_normalized_intent_t intent{};
  intent.struct_size = sizeof intent;
  REQUIRE(tent_normalize_request(&request, sizeof request, 1, TENT_MODE_CONFIGURED, 1'000, &intent) == TENT_OK);
  CHECK(intent.struct_size == sizeof intent);
  CHECK(intent.intent_type == TENT_INTENT_MIGRATION);
  CHECK(intent.deadline_state == TENT_DEADLINE_PENDING);
  CHECK(intent.remaining_ns == 500);
  CHECK(std::string(intent.policy_name) == "bulk");
  REQUIRE(intent.downgrade_count == 1);
  CHECK(intent.downgrades[0].field == TENT_FIELD_FLAGS);
  CHECK(intent.downgrades[0].reason == TENT_DOWNGRADE_FLAGS_IGNORED);

  // A caller from before `policy_name`, and one whose struct this library must not write past.
  tent_normalized_intent_t shorter{};
  shorter.struct_size = offsetof(tent_normalized_intent_t, policy_name);
  REQUIRE(tent_normalize_request(&request, sizeof request, 1, TENT_MODE_STRICT, 1'000, &shorter) == TENT_OK);
  CHECK(shorter.length == 64);
  CHECK(shorter.policy_name[0] == '\0');
  shorter.struct_size = 4;
  CHECK(tent_normalize_request(&request, sizeof request, 1, TENT_MODE_STRICT, 0, &shorter) ==
        TENT_ERROR_INVALID_LAYOUT);

  const tent_normalized_intent_t before = intent;
  const auto refusal = [&](size_t stride, uint32_t schema, int32_t mode) {
    CHECK(tent_normalize_request(&request, stride, schema, mode, 1'000, &intent) != TENT_OK);
    CHECK(std::memcmp(&intent, &before, sizeof intent) == 0);
    return std::string(lastError().reason_name);
  };
  CHECK(refusal(40, 1, TENT_MODE_STRICT) == "stride_too_small");
  CHECK(refusal(sizeof request, 2, TENT_MODE_STRICT) == "schema_unknown");
  CHECK(refusal(sizeof request, 1, 7) == "unknown_flags");
  request.struct_size = 60;
  CHECK(refusal(sizeof request, 1, TENT_MODE_STRICT) == "struct_size_splits_field");
  request.struct_size = sizeof request;
  request.reserved0 = 1;
  CHECK(refusal(sizeof request, 1, TENT_MODE_COMPAT) == "reserved_nonzero");
  CHECK(lastError().index == 0);
  CHECK(lastError().failing == 1);
}

TEST_CASE("an explanation names the interface that it was asked by") {
  TwoCEngines two;
  const tent_request_v1_t request = two.request(OPCODE_READ);
  tent_explain_options_t options = TENT_EXPLAIN_OPTIONS_INIT;
  const auto explain = [&] {
    char text[8192];
    size_t size = sizeof text;
    const int code = tent_explain_requests(two.initiator, &request, 1, sizeof request, 1, &options, text, &size);
    return code == TENT_OK ? std::string(text) : std::string(lastError().reason_name);
  };
  CHECK(explain().find("\"surface\":\"v1\"") != std::string::npos);
  options.surface = TENT_SURFACE_PYTHON;
  CHECK(explain().find("\"surface\":\"python\"") != std::string::npos);
  options.surface = 1;  // legacy requests are not explained as v1
  CHECK(explain() == "unknown_flags");
  options.struct_size = offsetof(tent_explain_options_t, surface);  // from before there was one
  CHECK(explain().find("\"surface\":\"v1\"") != std::string::npos);
  options = TENT_EXPLAIN_OPTIONS_INIT;
  options.reserved = 1;
  CHECK(explain() == "reserved_nonzero");
}

TEST_CASE("one invalid entry at each position of a batch of 64 is named, and nothing has moved") {
  TwoCEngines two;
  std::fill(two.local.begin(), two.local.end(), static_cast<unsigned char>(7));
  std::vector<tent_request_v1_t> requests;
  for (size_t i = 0; i < 64; ++i) requests.push_back(two.request(OPCODE_WRITE, 64 * i));
  for (size_t bad = 0; bad < requests.size(); ++bad) {
    std::vector<tent_request_v1_t> with_fault = requests;
    with_fault[bad].opcode = 7;
    tent_result_t result = TENT_RESULT_INIT;
    const int code = tent_submit_requests_ex(two.initiator, two.batch, with_fault.data(), with_fault.size(),
                                             sizeof with_fault[0], TENT_REQUEST_SCHEMA_V1, nullptr, &result);
    REQUIRE(code == TENT_ERROR_INVALID_ENUM);
    CHECK(result.category == TENT_ERROR_INVALID_ENUM);
    CHECK(result.reason == TENT_REASON_UNKNOWN_OPCODE);
    CHECK(result.field == TENT_FIELD_OPCODE);
    CHECK(result.index == static_cast<int64_t>(bad));
    CHECK(result.failing == 1);
    CHECK(std::string(result.message).find("7") != std::string::npos);
  }
  CHECK(std::all_of(two.remote, two.remote + 64 * 64, [](unsigned char byte) { return byte == 0; }));
  tent_status_t status{};
  CHECK(tent_task_status(two.initiator, two.batch, 0, &status) == -1);  // no slot was used
}

TEST_CASE("of several invalid entries the lowest is named and all are counted, whatever is wrong with each") {
  TwoCEngines two;
  std::vector<tent_request_v1_t> requests(5, two.request(OPCODE_WRITE));
  requests[1].policy_name = "none-such";
  requests[3].struct_size = 50;
  requests[4].length = 0;
  tent_result_t result = TENT_RESULT_INIT;
  CHECK(tent_submit_requests_ex(two.initiator, two.batch, requests.data(), 5, sizeof requests[0], 1, nullptr,
                                &result) == TENT_ERROR_INVALID_POLICY);
  CHECK(result.index == 1);
  CHECK(result.failing == 3);
  const tent_result_t last = lastError();
  CHECK(last.index == 1);
  CHECK(last.failing == 3);
}

TEST_CASE("a legacy call accepts what cannot be routed, and that task fails with its reason") {
  TwoCEngines two;
  std::vector<tent_request_t> requests{two.legacy(OPCODE_WRITE), two.legacy(OPCODE_WRITE), two.legacy(OPCODE_WRITE)};
  requests[1].target_offset = 64;
  REQUIRE(tent_submit(two.initiator, two.batch, requests.data(), requests.size()) == 0);
  REQUIRE(two.wait() == TENT_OK);
  CHECK(two.statusOf(0) == STATUS_COMPLETED);
  CHECK(two.statusOf(1) == STATUS_FAILED);
  CHECK(two.statusOf(2) == STATUS_COMPLETED);
  CHECK(two.overall() == STATUS_FAILED);
  tent_result_t why = TENT_RESULT_INIT;
  REQUIRE(tent_task_error(two.initiator, two.batch, 1, &why) == TENT_OK);
  CHECK(why.reason == TENT_REASON_OUT_OF_RANGE);
  CHECK(why.index == 1);
  REQUIRE(tent_task_error(two.initiator, two.batch, 0, &why) == TENT_OK);
  CHECK(why.category == TENT_OK);
  CHECK(std::string(why.message).empty());
}

TEST_CASE("an opcode that is none is refused on every transport") {
  for (const int transport : {TRANSPORT_UNSPEC, TRANSPORT_SHM, TRANSPORT_TCP}) {
    TwoCEngines two;
    tent_request_t request = two.legacy(7);
    request.transport_hint = transport;
    CHECK(tent_submit(two.initiator, two.batch, &request, 1) == -1);
    CHECK(lastError().reason == TENT_REASON_UNKNOWN_OPCODE);
  }
}

TEST_CASE("remote writes into read-only and local memory are refused over every transport") {
  for (const char* config : {"", R"({"transports": {"shm": {"enable": false}}})"}) {
    CAPTURE(config);
    TwoCEngines two(config);
    std::vector<unsigned char> read_only(4096);
    std::vector<unsigned char> local_only(4096);
    REQUIRE(tent_register_memory_with_perm(two.target, read_only.data(), 4096, PERM_GLOBAL_READ_ONLY) == 0);
    REQUIRE(tent_register_memory_with_perm(two.target, local_only.data(), 4096, PERM_LOCAL_READ_WRITE) == 0);
    two.local[0] = 9;
    tent_request_v1_t request = two.request(OPCODE_WRITE);
    request.target_offset = reinterpret_cast<uint64_t>(read_only.data());
    CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_ERROR_INVALID_ARGUMENT);
    CHECK(lastError().reason == TENT_REASON_PERMISSION_DENIED);
    request.target_offset = reinterpret_cast<uint64_t>(local_only.data());
    CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_ERROR_INVALID_ARGUMENT);
    CHECK(lastError().reason == TENT_REASON_OUT_OF_RANGE);
    request.opcode = OPCODE_READ;
    CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_ERROR_INVALID_ARGUMENT);
    CHECK(read_only[0] == 0);
    CHECK(local_only[0] == 0);
  }
}

TEST_CASE("a fast poller may free the batch and its memory at once") {
  TwoCEngines two;
  for (int round = 0; round < 500; ++round) {
    const tent_batch_id_t batch = tent_allocate_batch(two.initiator, 4);
    std::vector<tent_request_t> requests(4, two.legacy(OPCODE_WRITE, 0, 4096));
    for (tent_request_t& request : requests) request.transport_hint = round % 2 == 0 ? TRANSPORT_TCP : TRANSPORT_SHM;
    REQUIRE(tent_submit(two.initiator, batch, requests.data(), requests.size()) == 0);
    tent_status_t status{};
    do {
      REQUIRE(tent_overall_status(two.initiator, batch, &status) == 0);
    } while (status.status == STATUS_PENDING);
    CHECK(status.status == STATUS_COMPLETED);
    while (tent_free_batch(two.initiator, batch) != 0) std::this_thread::yield();
  }
}

TEST_CASE("a segment that does not exist is not opened") {
  const CEngine engine;
  tent_segment_id_t segment = 77;
  for (const char* name : {"127.0.0.1:1", "nowhere.invalid:4711", "no address", ""}) {
    CAPTURE(name);
    CHECK(tent_open_segment(engine, &segment, name) == -1);
    CHECK(segment == 77);
  }
}

TEST_CASE("a text buffer that is too short is terminated, and the error says what was needed") {
  const CEngine engine;
  const std::string name = engine.name();
  for (size_t size = 0; size <= name.size() + 1; ++size) {
    std::vector<char> buffer(size + 1, '#');
    const int code = tent_segment_name(engine, buffer.data(), size);
    CHECK(code == (size > name.size() ? 0 : -1));
    CHECK(buffer[size] == '#');
    if (size > 0) CHECK(std::string(buffer.data()) == name.substr(0, size - 1));
    if (code != 0) {
      CHECK(std::string(lastError().message).find(std::to_string(name.size() + 1)) != std::string::npos);
    }
  }
  char host[64];
  uint16_t port = 0;
  REQUIRE(tent_rpc_server_addr_port(engine, host, sizeof host, &port) == 0);
  CHECK(std::string(host) + ":" + std::to_string(port) == name);
  port = 1;
  CHECK(tent_rpc_server_addr_port(engine, host, 2, &port) == -1);
  CHECK(port == 1);
}

// ---- explain

std::string explained(TwoCEngines& two, const std::vector<tent_request_v1_t>& requests,
                      const tent_explain_options_t* options = nullptr) {
  size_t size = 0;
  REQUIRE(tent_explain_requests(two.initiator, requests.data(), requests.size(), sizeof(tent_request_v1_t),
                                TENT_REQUEST_SCHEMA_V1, options, nullptr, &size) == TENT_OK);
  std::string text(size, '#');
  size_t again = size;
  REQUIRE(tent_explain_requests(two.initiator, requests.data(), requests.size(), sizeof(tent_request_v1_t),
                                TENT_REQUEST_SCHEMA_V1, options, text.data(), &again) == TENT_OK);
  CHECK(again == size);
  CHECK(text.back() == '\0');
  text.pop_back();
  CHECK(text.find('\0') == std::string::npos);
  return text;
}

TEST_CASE("explain tells what a submit would do, and submits nothing") {
  TwoCEngines two;
  std::vector<tent_request_v1_t> requests(2, two.request(OPCODE_WRITE));
  requests[0].intent_type = TENT_INTENT_CHECKPOINT;
  requests[1].intent_type = 99;
  tent_explain_options_t options = TENT_EXPLAIN_OPTIONS_INIT;
  options.now_ns = 1000;
  const std::string text = explained(two, requests, &options);
  CHECK(text.find("\"checkpoint\"") != std::string::npos);
  CHECK(text.find("\"unknown_intent_type\"") != std::string::npos);
  CHECK(text.find("\"shm\"") != std::string::npos);
  CHECK(two.overall() == STATUS_COMPLETED);  // of a batch with no task
  options.mode = TENT_MODE_COMPAT;
  CHECK(explained(two, requests, &options).find("\"downgrades\"") != std::string::npos);
  options.environment =
      R"({"schema_version": 1, "same_machine": false, "local": {"name": "a"}, "peer": {"name": "b"}})";
  const std::string elsewhere = explained(two, requests, &options);
  CHECK(elsewhere.find("not_same_machine") != std::string::npos);
  CHECK(explained(two, {}) == "[]");
}

TEST_CASE("explain never cuts: too short a buffer is told what is needed") {
  TwoCEngines two;
  const tent_request_v1_t request = two.request(OPCODE_WRITE);
  tent_explain_options_t options = TENT_EXPLAIN_OPTIONS_INIT;
  options.now_ns = 1;
  size_t needed = 0;
  REQUIRE(tent_explain_requests(two.initiator, &request, 1, sizeof request, 1, &options, nullptr, &needed) == 0);
  for (const size_t size : {size_t{0}, size_t{1}, needed - 1}) {
    std::string buffer(size + 1, '#');
    size_t len = size;
    CHECK(tent_explain_requests(two.initiator, &request, 1, sizeof request, 1, &options, buffer.data(), &len) ==
          TENT_ERROR_INVALID_ARGUMENT);
    CHECK(len == needed);
    CHECK(buffer.back() == '#');
    if (size > 0) CHECK(buffer[0] == '\0');
  }
  options.environment = "{]";
  size_t len = 0;
  CHECK(tent_explain_requests(two.initiator, &request, 1, sizeof request, 1, &options, nullptr, &len) ==
        TENT_ERROR_RUNTIME);
  CHECK(len == 0);
}

// ---- discovery and time

TEST_CASE("the version, the schemas and the clock") {
  CHECK(tent_get_api_version() == TENT_API_VERSION);
  size_t minimum = 0;
  size_t known = 0;
  REQUIRE(tent_get_request_schema_info(TENT_REQUEST_SCHEMA_V1, &minimum, &known) == TENT_OK);
  CHECK(minimum == offsetof(tent_request_v1_t, intent_type));
  CHECK(known == sizeof(tent_request_v1_t));
  CHECK(tent_get_request_schema_info(TENT_REQUEST_SCHEMA_V1, nullptr, nullptr) == TENT_OK);
  minimum = 5;
  CHECK(tent_get_request_schema_info(2, &minimum, nullptr) == TENT_ERROR_UNSUPPORTED_SCHEMA);
  CHECK(tent_get_request_schema_info(0, &minimum, nullptr) == TENT_ERROR_UNSUPPORTED_SCHEMA);
  CHECK(minimum == 5);

  const uint64_t before = tent_monotonic_now_ns();
  uint64_t deadline = 3;
  REQUIRE(tent_deadline_after_ns(1'000'000, &deadline) == TENT_OK);
  CHECK(deadline >= before + 1'000'000);
  REQUIRE(tent_deadline_after_ns(0, &deadline) == TENT_OK);
  CHECK(deadline != 0);
  deadline = 3;
  CHECK(tent_deadline_after_ns(UINT64_MAX, &deadline) == TENT_ERROR_DEADLINE);
  CHECK(lastError().reason == TENT_REASON_DEADLINE_OVERFLOW);
  CHECK(tent_deadline_after_ns(2'592'000'000'000'001, &deadline) == TENT_ERROR_DEADLINE);
  CHECK(lastError().reason == TENT_REASON_DEADLINE_OUT_OF_RANGE);
  CHECK(deadline == 3);
}

TEST_CASE("each thread has its own last error") {
  CHECK(tent_get_request_schema_info(9, nullptr, nullptr) == TENT_ERROR_UNSUPPORTED_SCHEMA);
  std::thread([] {
    CHECK(lastError().category == TENT_OK);
    tent_destroy_engine(nullptr);
    CHECK(lastError().reason == TENT_REASON_NULL_ENGINE);
  }).join();
  CHECK(lastError().reason == TENT_REASON_SCHEMA_UNKNOWN);
}

TEST_CASE("a result is written as far as the caller's struct goes") {
  CHECK(tent_get_request_schema_info(9, nullptr, nullptr) == TENT_ERROR_UNSUPPORTED_SCHEMA);
  tent_result_t result = TENT_RESULT_INIT;
  result.struct_size = offsetof(tent_result_t, field);
  result.field = 1234;
  REQUIRE(tent_last_error(&result) == TENT_OK);
  CHECK(result.reason == TENT_REASON_SCHEMA_UNKNOWN);
  CHECK(result.field == 1234);
  result.struct_size = 0;
  CHECK(tent_last_error(&result) == TENT_ERROR_INVALID_LAYOUT);
}

}  // namespace
}  // namespace tent::abi_test
