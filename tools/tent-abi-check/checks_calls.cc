// Calls as a whole: all or nothing, outputs, handles, options, strings.
#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <poll.h>

#include "tent-abi-check/trial.h"

namespace tent::tool {
namespace {

constexpr const char* kPolicies =
    R"({"policy": [{"name": "good", "segment_type": "memory", "transports": ["shm", "tcp"]}]})";

std::string allOrNothing(const Api& api) {
  Trial trial(api);
  std::vector<tent_request_v1_t> requests;
  for (size_t i = 0; i < 5; ++i) requests.push_back(trial.request(i * 64));
  requests[2].opcode = 7;
  requests[4].length = 0;
  requireRefused(api, trial.submit(requests.data(), 5), {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_OPCODE},
                 "five requests, the third and the fifth wrong");
  const tent_result_t error = lastError(api);
  require(error.index == 2, fmt::format("the error is of entry {}, not of the lowest that fails, 2", error.index));
  require(error.failing == 2, fmt::format("{} entries are said to fail, not 2", error.failing));
  trial.requireUntouched("a call with two wrong entries among five");
  requests[2] = trial.request(128);
  requests[4] = trial.request(256);
  requireAccepted(api, trial.submit(requests.data(), 5), "the same without the errors");
  require(trial.finish() == STATUS_COMPLETED && trial.tasks() == 5 && trial.arrived(0, 320), "they did not all move");
  return "one wrong entry: no byte, no task; the lowest index is named";
}

std::string batchRoom(const Api& api) {
  Trial trial(api);
  const std::vector<tent_request_v1_t> requests(65, trial.request());
  requireRefused(api, trial.submit(requests.data(), 65), {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_BATCH_FULL},
                 "65 requests for a batch of 64");
  trial.requireUntouched("too many requests");
  requireRefused(api, api.tent_submit_requests(trial.initiator, trial.batch + 977, requests.data(), 1, kKnownSize, 1),
                 {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_BAD_BATCH}, "a batch that none is");
  return "a batch that is full, and one that none is";
}

std::string outputs(const Api& api) {
  Trial trial(api);
  tent_status_t status{77, 78};
  require(api.tent_task_status(trial.initiator, trial.batch, 9, &status) == -1, "the status of a task that none is");
  require(api.tent_overall_status(trial.initiator, trial.batch + 977, &status) == -1, "the status of no batch");
  require(status.status == 77 && status.transferred_bytes == 78, "a failing status call wrote its output");
  tent_segment_info_t info{77, 78, nullptr};
  require(api.tent_get_segment_info(trial.initiator, 0x7777, &info) == -1, "the info of no segment");
  require(info.type == 77 && info.num_buffers == 78 && info.buffers == nullptr, "a failing info call wrote its output");
  tent_segment_id_t segment = 77;
  require(api.tent_open_segment(trial.initiator, &segment, "127.0.0.1:1") == -1, "opening a segment that is not there");
  require(segment == 77, "a failing open wrote its handle");
  int fd = 77;
  require(api.tent_batch_fd(trial.initiator, trial.batch + 977, &fd) != TENT_OK && fd == 77,
          "the descriptor of no batch");
  std::array<char, 4> name{'x', 'x', 'x', 'x'};
  require(api.tent_segment_name(trial.initiator, name.data(), name.size()) == -1, "a name in 4 bytes");
  require(name[3] == '\0', "a text buffer that is too short is left without its NUL");
  return "nothing is written on an error, but for the NUL of a text";
}

std::string handles(const Api& api) {
  Trial trial(api);
  const tent_request_v1_t request = trial.request();
  const tent_engine_t gone = api.tent_create_engine();
  require(gone != nullptr, "tent_create_engine gives NULL");
  api.tent_destroy_engine(gone);
  std::array<char, 64> buffer{};
  for (const tent_engine_t handle : {tent_engine_t{nullptr}, gone, static_cast<tent_engine_t>(buffer.data())}) {
    requireRefused(api, api.tent_submit_requests(handle, trial.batch, &request, 1, kKnownSize, 1),
                   {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_NULL_ENGINE, TENT_FIELD_ENGINE},
                   "a handle that is NULL, destroyed or made up");
    require(api.tent_available(handle) == 0, "an engine that is none is available");
    require(api.tent_segment_name(handle, buffer.data(), buffer.size()) == -1, "an engine that is none has a name");
    require(api.tent_allocate_batch(handle, 1) == 0, "an engine that is none gives a batch");
    api.tent_destroy_engine(handle);
  }
  requireRefused(api, api.tent_wait_batch(trial.initiator, 0, 0), {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_BAD_BATCH},
                 "waiting for batch 0");
  return "NULL, destroyed and made up ones are refused, and nothing crashes";
}

std::string lastErrors(const Api& api) {
  Trial trial(api);
  tent_request_v1_t request = trial.request();
  request.flags = 1;
  trial.submit(request);
  bool clean = false;
  std::thread([&] {
    tent_result_t other = TENT_RESULT_INIT;
    clean = api.tent_last_error(&other) == TENT_OK && other.category == TENT_OK && other.reason == TENT_REASON_NONE;
  }).join();
  require(clean, "another thread sees this thread's error");
  const tent_result_t error = lastError(api);
  require(error.reason_name != nullptr && std::strcmp(error.reason_name, "unknown_flags") == 0,
          "reason_name is not unknown_flags");
  require(error.message[0] != '\0' && strnlen(error.message, sizeof error.message) < sizeof error.message,
          "the message is empty, or not terminated");
  // As a client of a shorter header.
  tent_result_t cut{};
  std::memset(&cut, 0x5a, sizeof cut);
  cut.struct_size = offsetof(tent_result_t, field);
  require(api.tent_last_error(&cut) == TENT_OK && cut.reason == TENT_REASON_UNKNOWN_FLAGS,
          "a shorter result is not filled");
  require(cut.field == 0x5a5a5a5a, "more was written than a shorter result has room for");
  return "of each thread its own, in as much room as it has";
}

std::string options(const Api& api) {
  Trial trial(api);
  const tent_request_v1_t request = trial.request();
  struct Longer {
    tent_submit_options_t known = TENT_SUBMIT_OPTIONS_INIT;
    uint64_t more = 0;
  } longer;
  tent_result_t result = TENT_RESULT_INIT;
  result.index = 77;
  const auto submit = [&] {
    return api.tent_submit_requests_ex(trial.initiator, trial.batch, &request, 1, kKnownSize, 1, &longer.known,
                                       &result);
  };
  longer.known.struct_size = sizeof longer;
  requireAccepted(api, submit(), "longer options whose tail is zero");
  require(result.category == TENT_OK && result.index == -1, "the result of a call that succeeds is not filled in");
  longer.more = 1;
  requireRefused(api, submit(), {TENT_ERROR_INVALID_FLAGS, TENT_REASON_RESERVED_NONZERO},
                 "longer options whose tail is not");
  require(result.reason == TENT_REASON_RESERVED_NONZERO, "the result of a call that fails is not its error");
  longer = {};
  longer.known.struct_size = offsetof(tent_submit_options_t, notification_name);
  longer.known.notification_message = "not read";
  requireAccepted(api, submit(), "options that end before the notification");
  longer.known.struct_size = 4;
  requireRefused(api, submit(), {TENT_ERROR_INVALID_LAYOUT, TENT_REASON_STRUCT_SIZE_TOO_SMALL}, "options of 4 bytes");
  return "shorter ones take defaults, longer ones may hold zeros alone";
}

std::string explain(const Api& api) {
  Trial trial(api);
  const tent_request_v1_t request = trial.request();
  size_t needed = 0;
  const auto ask = [&](char* text, size_t& room) {
    return api.tent_explain_requests(trial.initiator, &request, 1, kKnownSize, 1, nullptr, text, &room);
  };
  requireAccepted(api, ask(nullptr, needed), "asking how long the explanation is");
  require(needed > 2, "an explanation has no length");
  std::vector<char> text(needed + 256, 'x');
  size_t room = 8;
  require(ask(text.data(), room) == TENT_ERROR_INVALID_ARGUMENT && room > 8, "a buffer that is too short");
  require(text[0] == '\0' && text[8] == 'x', "a short buffer is not terminated, or written behind its end");
  room = text.size();
  requireAccepted(api, ask(text.data(), room), "a buffer with room");
  require(text[0] == '[' && std::strlen(text.data()) + 1 == room, "the explanation is not the text of its length");
  trial.requireUntouched("an explanation");
  return "the length needed, all or nothing, and nothing submitted";
}

std::string normalization(const Api& api) {
  char memory[64];
  tent_request_v1_t request = TENT_REQUEST_V1_INIT;
  request.source = memory;
  request.length = sizeof memory;
  request.intent_type = 99;
  tent_normalized_intent_t intent{};
  intent.struct_size = sizeof intent;
  const tent_normalized_intent_t untouched = intent;
  const auto normalize = [&](int32_t mode) {
    return api.tent_normalize_request(&request, kKnownSize, 1, mode, 1, &intent);
  };
  requireRefused(api, normalize(TENT_MODE_STRICT), {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_INTENT_TYPE},
                 "an intent_type of 99");
  require(std::memcmp(&intent, &untouched, sizeof intent) == 0, "a request that is refused writes its output");
  requireAccepted(api, normalize(TENT_MODE_COMPAT), "an intent_type of 99 in compatibility mode");
  require(intent.length == 64 && intent.intent_type == TENT_INTENT_UNSPEC, "the request is not normalized");
  require(intent.downgrade_count == 1 && intent.downgrades[0].from == 99 &&
              intent.downgrades[0].reason == TENT_DOWNGRADE_UNKNOWN_INTENT_TYPE,
          "what compatibility mode changed is not told");
  intent = untouched;
  intent.struct_size = offsetof(tent_normalized_intent_t, length);
  requireAccepted(api, normalize(TENT_MODE_COMPAT), "an output that ends before `length`");
  require(intent.length == 0, "an output is written behind its struct_size");
  return "as a submit would, without an engine, and no further than struct_size";
}

std::string strings(const Api& api) {
  Trial trial(api, kPolicies);
  const GuardedPage page;
  tent_request_v1_t request = trial.request();
  std::memcpy(page.end() - 5, "good", 5);
  request.policy_name = page.end() - 5;
  requireAccepted(api, trial.submit(request), "a policy_name that ends at a page's end");
  // Both are gone before the task may have begun.
  std::memset(page.end() - 5, '\n', 5);
  std::memset(&request, 0xff, sizeof request);
  require(trial.finish() == STATUS_COMPLETED && trial.arrived(0, 64), "a request whose memory was used again failed");
  std::memset(page.end() - 128, 'p', 128);
  request = trial.request();
  request.policy_name = page.end() - 128;
  requireRefused(api, trial.submit(request), {TENT_ERROR_INVALID_POLICY, TENT_REASON_POLICY_TOO_LONG},
                 "128 bytes of a policy_name without an end");
  return "names and entries are copied by the call, and read no further than 128 bytes";
}

std::string waiting(const Api& api) {
  Trial trial(api);
  int fd = -1;
  requireAccepted(api, api.tent_batch_fd(trial.initiator, trial.batch, &fd), "the descriptor of a batch");
  requireAccepted(api, trial.submit(trial.request(0, Trial::kBytes)), "a request");
  pollfd one{fd, POLLIN, 0};
  require(poll(&one, 1, static_cast<int>(kWaitNs / 1'000'000)) == 1, "the descriptor does not become readable");
  requireAccepted(api, api.tent_wait_batch(trial.initiator, trial.batch, kWaitNs), "waiting for what has ended");
  require(trial.finish() == STATUS_COMPLETED && trial.arrived(0, Trial::kBytes), "the bytes did not move");
  tent_result_t result = TENT_RESULT_INIT;
  requireAccepted(api, api.tent_task_error(trial.initiator, trial.batch, 0, &result), "the error of a task");
  require(result.category == TENT_OK, "a completed task has an error");
  require(api.tent_free_batch(trial.initiator, trial.batch) == 0, "the batch cannot be freed");
  return "by call and by descriptor; a completed task has no error";
}

constexpr std::array<BehaviourCheck, 10> kCallChecks{{
    {"all_or_nothing", Needs::kV1, allOrNothing},
    {"batches", Needs::kV1, batchRoom},
    {"outputs.untouched", Needs::kV1, outputs},
    {"handles", Needs::kV1, handles},
    {"errors.last", Needs::kV1, lastErrors},
    {"options.sizes", Needs::kV1, options},
    {"explain.sizes", Needs::kV1, explain},
    {"normalize", Needs::kV1, normalization},
    {"strings.copied", Needs::kV1, strings},
    {"waiting", Needs::kV1, waiting},
}};

}  // namespace

std::span<const BehaviourCheck> callChecks() {
  return kCallChecks;
}

}  // namespace tent::tool
