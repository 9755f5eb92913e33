// How an engine of the C API is configured, and what is told of a configuration that is wrong.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <unistd.h>

#include "abi/c_engines.h"
#include "support/temporary_folder.h"

namespace tent::abi_test {
namespace {

TEST_CASE("a configuration that is broken gives no engine, and the error says where it is broken") {
  const std::string path = "/tmp/tent-abi-config-" + std::to_string(getpid()) + ".json";
  struct Case {
    std::string text;
    std::string expected;
  };
  for (const Case& one : {Case{"{\"rpc_server_port\": 70000}", "/rpc_server_port"},
                          {"{\"rpc_server_port\": \"x\"}", "/rpc_server_port"},
                          {"{\n  \"policy\": [{\"name\": 3}]}", ":2:"},
                          {"{", "truncated"},
                          {"[]", "object"},
                          {"", "JSON"},
                          {"{\"metadata_type\": \"etcd\"}", "metadata_type"},
                          {"{\"qos\": {\"unknown\": 1}}", "unknown"}}) {
    CAPTURE(one.text);
    std::ofstream(path) << one.text;
    tent_load_config_from_file(path.c_str());
    CHECK(tent_create_engine() == nullptr);
    const tent_result_t error = lastError();
    CHECK(error.reason == TENT_REASON_BAD_CONFIGURATION);
    CHECK_MESSAGE(std::string(error.message).find(one.expected) != std::string::npos, error.message);
  }
  std::remove(path.c_str());
  tent_load_config_from_file("/nowhere/config.json");
  CHECK(tent_create_engine() == nullptr);
  CHECK(std::string(lastError().message).find("/nowhere/config.json") != std::string::npos);
  // Each attempt used its configuration up.
  const tent_engine_t engine = tent_create_engine();
  CHECK(engine != nullptr);
  tent_destroy_engine(engine);
}

TEST_CASE("keys are set over the file, as text or JSON, for the thread's next engine alone") {
  tent_load_config_from_file(R"(  {"local_segment_name": "from-text", "transports": {"tcp": {"enable": true}}})");
  tent_set_config("local_segment_name", "4711");
  tent_set_config("transports/shm/enable", "false");
  std::thread([] {
    const CEngine other;
    CHECK(other.name() != "4711");
  }).join();
  {
    const CEngine engine;
    CHECK(engine.name() == "4711");
  }
  const CEngine next;
  CHECK(next.name() != "4711");

  tent_set_config("transports/shm/enable", "perhaps");
  CHECK(tent_create_engine() == nullptr);
  CHECK(std::string(lastError().message).find("/transports/shm/enable") != std::string::npos);
  for (const char* key : {"", "/", "transports//enable", "local_segment_name/deeper"}) {
    CAPTURE(key);
    tent_set_config("local_segment_name", "name");
    tent_set_config(key, "1");
    CHECK(tent_create_engine() == nullptr);
  }
}

TEST_CASE("engines with the same token file reach each other, and no others do") {
  const TemporaryFolder folder;
  const std::string path = folder.write("token", "0123456789abcdefghijklmnopqrstuvwxyz");
  const auto with_token = [&](const std::string& file) {
    tent_set_config("auth/token_file", file.c_str());
    return std::make_unique<CEngine>();
  };
  const auto target = with_token(path);
  const auto peer = with_token(path);
  const auto stranger = with_token(folder.write("other", "another token, of 32 bytes at the least"));
  const CEngine user;  // with the user's own
  tent_segment_id_t segment = 0;
  CHECK(tent_open_segment(*peer, &segment, target->name().c_str()) == 0);
  for (const tent_engine_t other : {tent_engine_t(*stranger), tent_engine_t(user)}) {
    CHECK(tent_open_segment(other, &segment, target->name().c_str()) == -1);
    const tent_result_t error = lastError();
    CHECK(error.reason == TENT_REASON_AUTH_FAILED);
    CHECK(std::string(error.message).find("another token") != std::string::npos);
    CHECK(std::string(error.message).find("0123456789") == std::string::npos);
  }
}

TEST_CASE("a token that is not good, or none where one is needed, gives no engine, and the error names the key") {
  const TemporaryFolder folder;
  tent_set_config("auth/token_file", folder.write("short", "short").c_str());
  CHECK(tent_create_engine() == nullptr);
  CHECK(lastError().reason == TENT_REASON_BAD_CONFIGURATION);
  CHECK(std::string(lastError().message).find("auth.token_file") != std::string::npos);
  tent_set_config("rpc_server_hostname", "0.0.0.0");
  CHECK(tent_create_engine() == nullptr);
  CHECK(std::string(lastError().message).find("auth.token_file") != std::string::npos);
  CHECK(std::string(lastError().message).find("auth.mode") != std::string::npos);
}

TEST_CASE("an engine listens where it is told to, and nowhere else by default") {
  const CEngine engine;
  CHECK(engine.name().rfind("127.0.0.1:", 0) == 0);
  tent_load_config_from_file(R"({"rpc_server_hostname": "127.0.0.2"})");
  const CEngine other;
  CHECK(other.name().rfind("127.0.0.2:", 0) == 0);
}

TEST_CASE("a reload is in force for later submits; one that is broken changes nothing and says where it is broken") {
  TwoCEngines two(R"({"policy": [{"segment_type": "memory", "transports": ["shm"]}]})");
  tent_request_v1_t over_tcp = two.request(OPCODE_WRITE);
  over_tcp.transport_hint = TRANSPORT_TCP;
  const auto submitted = [&] {
    const tent_batch_id_t batch = tent_allocate_batch(two.initiator, 1);
    const int code = tent_submit_v1(two.initiator, batch, &over_tcp, 1);
    tent_wait_batch(two.initiator, batch, UINT64_MAX);
    tent_free_batch(two.initiator, batch);
    return code;
  };
  CHECK(submitted() == TENT_ERROR_TRANSPORT_UNAUTHORIZED);

  tent_result_t result = TENT_RESULT_INIT;
  for (const char* broken : {"{", R"({"policy": [{"transports": ["tpc"]}]})", "/nowhere/tent.json"}) {
    CAPTURE(broken);
    CHECK(tent_reload_policy(two.initiator, broken, &result) == TENT_ERROR_RUNTIME);
    CHECK(result.reason == TENT_REASON_BAD_CONFIGURATION);
    CHECK(std::string(result.message) == lastError().message);
    CHECK(submitted() == TENT_ERROR_TRANSPORT_UNAUTHORIZED);
  }
  CHECK(tent_reload_policy(two.initiator, nullptr, &result) == TENT_ERROR_INVALID_ARGUMENT);

  CHECK(tent_reload_policy(two.initiator, R"({"policy": [{"segment_type": "memory", "transports": ["tcp"]}]})",
                           &result) == TENT_OK);
  CHECK(result.category == TENT_OK);
  CHECK(std::string(result.message).empty());
  CHECK(submitted() == TENT_OK);
  CHECK(tent_reload_policy(two.initiator, R"({"tenant": "x", "rpc_server_port": 4711})", &result) == TENT_OK);
  CHECK(std::string(result.message) == "tenant, rpc_server_port");
  CHECK(tent_reload_policy(two.initiator, "{}", nullptr) == TENT_OK);
  result.struct_size = 4;
  CHECK(tent_reload_policy(two.initiator, "{}", &result) == TENT_ERROR_INVALID_LAYOUT);
}

}  // namespace
}  // namespace tent::abi_test
