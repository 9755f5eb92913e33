// Two engines behind the C API, in one process: what most tests of the API need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tent/transfer_engine.h"

namespace tent::abi_test {

inline tent_result_t lastError() {
  tent_result_t result = TENT_RESULT_INIT;
  REQUIRE(tent_last_error(&result) == TENT_OK);
  return result;
}

// An engine with a configuration of its own ("": the defaults).
class CEngine {
 public:
  explicit CEngine(const std::string& config = "") {
    if (!config.empty()) tent_load_config_from_file(config.c_str());
    handle_ = tent_create_engine();
    if (handle_ == nullptr) FAIL(lastError().message);
  }
  CEngine(const CEngine&) = delete;
  CEngine& operator=(const CEngine&) = delete;
  ~CEngine() { tent_destroy_engine(handle_); }
  operator tent_engine_t() const { return handle_; }  // NOLINT(google-explicit-constructor): as C passes it

  std::string name() const {
    char name[256];
    REQUIRE(tent_segment_name(handle_, name, sizeof name) == 0);
    return name;
  }

 private:
  tent_engine_t handle_ = nullptr;
};

// An initiator with 1 MiB of its own and an open segment of a target with 1 MiB that the target's engine allocated.
struct TwoCEngines {
  static constexpr size_t kBytes = 1u << 20;

  explicit TwoCEngines(const std::string& config = "", const std::string& target_config = "")
      : initiator(config), target(target_config), local(kBytes) {
    void* memory = nullptr;
    REQUIRE(tent_allocate_memory(target, &memory, kBytes, "cpu") == 0);
    remote = static_cast<unsigned char*>(memory);
    REQUIRE(tent_register_memory(initiator, local.data(), local.size()) == 0);
    REQUIRE(tent_open_segment(initiator, &segment, target.name().c_str()) == 0);
    batch = tent_allocate_batch(initiator, 1024);
    REQUIRE(batch != 0);
  }
  TwoCEngines(const TwoCEngines&) = delete;
  TwoCEngines& operator=(const TwoCEngines&) = delete;
  ~TwoCEngines() { tent_wait_batch(initiator, batch, 10'000'000'000); }

  uint64_t address() const { return reinterpret_cast<uint64_t>(remote); }
  tent_request_v1_t request(int opcode, size_t offset = 0, size_t length = 64) {
    tent_request_v1_t request = TENT_REQUEST_V1_INIT;
    request.opcode = opcode;
    request.source = local.data() + offset;
    request.target_id = segment;
    request.target_offset = address() + offset;
    request.length = length;
    return request;
  }
  tent_request_t legacy(int opcode, size_t offset = 0, size_t length = 64) {
    return {opcode, local.data() + offset, segment, address() + offset, length, 0, 0};
  }
  int wait() { return tent_wait_batch(initiator, batch, 10'000'000'000); }
  int statusOf(size_t task) {
    tent_status_t status{};
    REQUIRE(tent_task_status(initiator, batch, task, &status) == 0);
    return status.status;
  }
  int overall() {
    tent_status_t status{};
    REQUIRE(tent_overall_status(initiator, batch, &status) == 0);
    return status.status;
  }

  CEngine initiator;
  CEngine target;
  std::vector<unsigned char> local;
  unsigned char* remote = nullptr;
  tent_segment_id_t segment = 0;
  tent_batch_id_t batch = 0;
};

}  // namespace tent::abi_test
