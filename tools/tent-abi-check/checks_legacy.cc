// The legacy API as deployed: what clients from before v1 rely on.
#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "tent-abi-check/trial.h"

namespace tent::tool {
namespace {

std::string transfers(const Api& api) {
  Trial trial(api);
  std::array<tent_request_t, 4> requests{};
  for (size_t i = 0; i < requests.size(); ++i) requests[i] = trial.legacy(OPCODE_WRITE, i * 1024, 1024);
  require(api.tent_submit(trial.initiator, trial.batch, requests.data(), requests.size()) == 0, "tent_submit fails");
  require(trial.finish() == STATUS_COMPLETED && trial.arrived(0, 4096), "written bytes did not arrive");
  tent_status_t status{};
  require(api.tent_overall_status(trial.initiator, trial.batch, &status) == 0 && status.transferred_bytes == 4096,
          fmt::format("{} bytes are said to have moved, not 4096", status.transferred_bytes));
  std::memset(trial.local.data(), 0, 4096);
  tent_request_t read = trial.legacy(OPCODE_READ, 1024, 1024);
  require(api.tent_submit(trial.initiator, trial.batch, &read, 1) == 0, "a read fails");
  require(trial.finish() == STATUS_COMPLETED && trial.arrived(1024, 1024), "read bytes did not arrive");
  require(trial.local[0] == 0 && trial.local[2048] == 0, "a read wrote outside its range");
  require(trial.tasks() == 5, "five requests are not five tasks");
  return "write, read, statuses and counts";
}

std::string segments(const Api& api) {
  Trial trial(api);
  tent_segment_info_t info{};
  require(api.tent_get_segment_info(trial.initiator, trial.segment, &info) == 0, "tent_get_segment_info fails");
  require(info.type == TYPE_MEMORY && info.num_buffers == 1 && info.buffers != nullptr,
          "the target has not one buffer");
  const tent_buffer_info& buffer = info.buffers[0];
  require(buffer.base == reinterpret_cast<uintptr_t>(trial.remote) && buffer.length == Trial::kBytes,
          "the buffer is not at its address, or not of its length");
  require(std::strncmp(buffer.location, "cpu", sizeof buffer.location) == 0, "its location is not \"cpu\"");
  api.tent_free_segment_info(&info);
  api.tent_free_segment_info(&info);
  return "base, length and location where the layout has them; freeing twice is harmless";
}

std::string defaults(const Api& api) {
  Trial trial(api);
  // Zeroed but for what is needed: priority 0 is high, hint 0 is none.
  tent_request_t plain = trial.legacy(OPCODE_WRITE);
  tent_request_t low = trial.legacy(OPCODE_WRITE, 64);
  low.priority = 7;  // any other than 0, 1, 2 is low, as deployed
  tent_request_t hinted = trial.legacy(OPCODE_WRITE, 128);
  hinted.transport_hint = 99;  // out of range is unspec
  tent_request_t empty = trial.legacy(OPCODE_WRITE, 192, 0);
  for (tent_request_t* one : {&plain, &low, &hinted, &empty}) {
    require(api.tent_submit(trial.initiator, trial.batch, one, 1) == 0,
            fmt::format("refused: priority {}, hint {}, length {}", one->priority, one->transport_hint, one->length));
  }
  require(trial.finish() == STATUS_COMPLETED && trial.arrived(0, 192), "not all of them completed");
  require(api.tent_submit(trial.initiator, trial.batch, nullptr, 0) == 0, "no entries are an error");
  return "priority 0 is high, others are low; a hint out of range is none; length 0 completes";
}

std::string errors(const Api& api) {
  Trial trial(api);
  tent_request_t request = trial.legacy(7);
  require(api.tent_submit(trial.initiator, trial.batch, &request, 1) == -1, "opcode 7 is not refused with -1");
  request = trial.legacy(OPCODE_WRITE);
  request.source = nullptr;
  require(api.tent_submit(trial.initiator, trial.batch, &request, 1) == -1, "a NULL source is not refused with -1");
  require(api.tent_submit(trial.initiator, trial.batch, nullptr, 1) == -1, "NULL entries are not refused with -1");
  require(api.tent_submit(trial.initiator, trial.batch + 977, &request, 1) == -1,
          "a batch that none is, is not refused");
  trial.requireUntouched("refused requests");
  require(api.tent_cancel_task(trial.initiator, trial.batch, 5) == -1, "cancelling no task is not refused with -1");
  return "every error is -1";
}

std::string notAllOrNothing(const Api& api) {
  Trial trial(api);
  std::array<tent_request_t, 3> requests{trial.legacy(OPCODE_WRITE, 0), trial.legacy(OPCODE_WRITE, 64),
                                         trial.legacy(OPCODE_WRITE, 128)};
  requests[1].target_offset = 4096;  // in no buffer
  require(api.tent_submit(trial.initiator, trial.batch, requests.data(), 3) == 0,
          "an entry outside every buffer fails the call; deployed callers look at its task");
  require(trial.finish() == STATUS_FAILED, "the batch is not FAILED");
  const std::array<int, 3> expected{STATUS_COMPLETED, STATUS_FAILED, STATUS_COMPLETED};
  for (size_t i = 0; i < expected.size(); ++i) {
    tent_status_t status{};
    require(api.tent_task_status(trial.initiator, trial.batch, i, &status) == 0 && status.status == expected[i],
            fmt::format("task {} has status {}, not {}", i, status.status, expected[i]));
  }
  require(trial.arrived(0, 64) && trial.arrived(128, 64), "the other entries did not move");
  return "an entry that cannot be routed fails alone";
}

std::string memory(const Api& api) {
  Trial trial(api);
  std::array<char, 4096> more{};
  const auto with = [&](int permission) {
    return api.tent_register_memory_with_perm(trial.target, more.data(), more.size(), permission);
  };
  require(with(PERM_GLOBAL_READ_ONLY) == 0, "registering read-only memory fails");
  require(with(9) == -1, "permission 9 is not refused");
  tent_memory_options_t options{};
  std::memcpy(options.location, "cpu", 4);
  options.permission = PERM_GLOBAL_READ_WRITE;
  void* memory = nullptr;
  require(api.tent_allocate_memory_ex(trial.target, &memory, 4096, &options) == 0 && memory != nullptr,
          "tent_allocate_memory_ex fails with options of the header's layout");
  require(api.tent_free_memory(trial.target, memory) == 0, "freeing it fails");
  require(api.tent_unregister_memory(trial.target, more.data(), more.size()) == 0, "unregistering fails");
  size_t nics = 0;
  require(api.tent_get_nic_load_stats(trial.target, nullptr, &nics) == 0 || nics > 0, "asking for NICs fails");
  return "registration, permissions and options by the header's layout and values";
}

constexpr std::array<BehaviourCheck, 6> kLegacyChecks{{
    {"legacy.transfers", Needs::kLegacy, transfers},
    {"legacy.segments", Needs::kLegacy, segments},
    {"legacy.defaults", Needs::kLegacy, defaults},
    {"legacy.errors", Needs::kLegacy, errors},
    {"legacy.entries_fail_alone", Needs::kLegacy, notAllOrNothing},
    {"legacy.memory", Needs::kLegacy, memory},
}};

}  // namespace

std::span<const BehaviourCheck> legacyChecks() {
  return kLegacyChecks;
}

}  // namespace tent::tool
