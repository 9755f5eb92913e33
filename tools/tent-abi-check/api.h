// The functions of a library by their names, as a client that is not linked with it has them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tent/transfer_engine.h"

// clang-format off
#define TENT_LEGACY_FUNCTIONS(X)                                                                                   \
  X(tent_load_config_from_file) X(tent_set_config) X(tent_create_engine) X(tent_destroy_engine) X(tent_available)  \
  X(tent_segment_name) X(tent_rpc_server_addr_port) X(tent_open_segment) X(tent_close_segment)                     \
  X(tent_get_segment_info) X(tent_free_segment_info) X(tent_allocate_memory) X(tent_allocate_memory_ex)            \
  X(tent_free_memory) X(tent_register_memory) X(tent_register_memory_with_perm) X(tent_register_memory_ex)         \
  X(tent_register_memory_batch) X(tent_register_memory_batch_ex) X(tent_unregister_memory)                         \
  X(tent_unregister_memory_batch) X(tent_allocate_batch) X(tent_free_batch) X(tent_submit) X(tent_submit_notif)    \
  X(tent_send_notifs) X(tent_recv_notifs) X(tent_free_notifs) X(tent_task_status) X(tent_task_status_list)         \
  X(tent_overall_status) X(tent_cancel_task) X(tent_get_nic_load_stats)
#define TENT_V1_FUNCTIONS(X)                                                                                       \
  X(tent_get_api_version) X(tent_get_request_schema_info) X(tent_submit_requests) X(tent_submit_requests_notif)    \
  X(tent_submit_requests_ex) X(tent_last_error) X(tent_task_error) X(tent_explain_requests) X(tent_wait_batch)     \
  X(tent_batch_fd) X(tent_monotonic_now_ns) X(tent_deadline_after_ns) X(tent_normalize_request)
// clang-format on

namespace tent::tool {

inline constexpr const char* kLegacyVersion = "TENT_0";
inline constexpr const char* kV1Version = "TENT_1.0";

#define X(name) +1
inline constexpr size_t kV1FunctionCount = 0 TENT_V1_FUNCTIONS(X);
#undef X

// The functions that are missing are null, and named.
struct Api {
#define X(name) decltype(&::name) name = nullptr;
  TENT_LEGACY_FUNCTIONS(X)
  TENT_V1_FUNCTIONS(X)
#undef X
  std::vector<std::string> missing_legacy;
  std::vector<std::string> missing_v1;
  void* library = nullptr;  // of dlopen; never closed, its threads may still run
  std::string error;        // why it could not be loaded; "" it was
};

Api loadApi(const std::string& path);

}  // namespace tent::tool
