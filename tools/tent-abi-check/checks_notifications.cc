// Notifications: what v1 sends arrives as what the legacy API sends, after its data, or not at all.
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

#include "tent-abi-check/trial.h"

namespace tent::tool {
namespace {

using Notice = std::pair<std::string, std::string>;

std::vector<Notice> receive(Trial& trial) {
  tent_notifi_info info{};
  require(trial.api.tent_recv_notifs(trial.target, &info) == 0, "tent_recv_notifs fails");
  std::vector<Notice> out;
  for (int i = 0; i < info.num_records; ++i) out.emplace_back(info.records[i].name, info.records[i].msg);
  trial.api.tent_free_notifs(&info);
  trial.api.tent_free_notifs(&info);
  return out;
}

// The one notification of a batch that has ended.
Notice receiveOne(Trial& trial, const std::string& of) {
  std::vector<Notice> all;
  while (all.empty()) {
    all = receive(trial);
    sched_yield();
  }
  require(all.size() == 1, fmt::format("{} notifications arrived of {}, not one", all.size(), of));
  return all.front();
}

std::string legacyArrives(const Api& api) {
  Trial trial(api);
  std::array<tent_request_t, 2> requests{trial.legacy(OPCODE_WRITE), trial.legacy(OPCODE_WRITE, 64)};
  require(api.tent_submit_notif(trial.initiator, trial.batch, requests.data(), 2, "name", "message") == 0,
          "tent_submit_notif fails");
  require(receiveOne(trial, "tent_submit_notif") == Notice("name", "message"), "name or message is another");
  require(trial.arrived(0, 128), "a notification arrived before its data");
  require(api.tent_send_notifs(trial.initiator, trial.segment, "alone", "") == 0, "tent_send_notifs fails");
  require(receiveOne(trial, "tent_send_notifs") == Notice("alone", ""), "name or message is another");
  return "with a submit, after its data; and alone";
}

std::string parity(const Api& api) {
  Trial trial(api);
  std::string name(255, 'n');
  std::string message(4095, 'm');
  const Notice expected(name, message);
  tent_request_t old_request = trial.legacy(OPCODE_WRITE);
  require(api.tent_submit_notif(trial.initiator, trial.batch, &old_request, 1, name.c_str(), message.c_str()) == 0,
          "the longest notification is refused by the legacy API");
  require(receiveOne(trial, "the legacy API") == expected, "the legacy API sends another notification");

  const tent_request_v1_t request = trial.request(64);
  requireAccepted(api,
                  api.tent_submit_requests_notif(trial.initiator, trial.batch, &request, 1, kKnownSize, 1, name.c_str(),
                                                 message.c_str()),
                  "the longest notification");
  name.assign(255, 'x');  // the caller's again
  message.assign(4095, 'x');
  require(receiveOne(trial, "tent_submit_requests_notif") == expected,
          "v1 sends another notification than the legacy API");
  require(trial.arrived(64, 64), "a notification of v1 arrived before its data");

  tent_submit_options_t options = TENT_SUBMIT_OPTIONS_INIT;
  options.notification_name = "by";
  options.notification_message = "options";
  requireAccepted(
      api, api.tent_submit_requests_ex(trial.initiator, trial.batch, &request, 1, kKnownSize, 1, &options, nullptr),
      "a notification in the options");
  require(receiveOne(trial, "tent_submit_requests_ex") == Notice("by", "options"),
          "the options send another notification");
  return "v1, its options and the legacy API send the same, copied by the call, after the data";
}

std::string refused(const Api& api) {
  Trial trial(api);
  const tent_request_v1_t request = trial.request();
  const auto submit = [&](const tent_request_v1_t& one, const char* name, const char* message) {
    return api.tent_submit_requests_notif(trial.initiator, trial.batch, &one, 1, kKnownSize, 1, name, message);
  };
  const Refusal null{TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_NULL_NOTIFICATION, TENT_FIELD_NOTIFICATION};
  const Refusal too_long{TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_NOTIFICATION_TOO_LONG, TENT_FIELD_NOTIFICATION};
  requireRefused(api, submit(request, nullptr, "message"), null, "a notification without a name");
  requireRefused(api, submit(request, "name", nullptr), null, "a notification without a message");
  requireRefused(api, submit(request, std::string(256, 'n').c_str(), ""), too_long, "a name of 256 bytes");
  requireRefused(api, submit(request, "n", std::string(4096, 'm').c_str()), too_long, "a message of 4096 bytes");
  tent_request_v1_t wrong = request;
  wrong.opcode = 7;
  requireRefused(api, submit(wrong, "name", "message"), {TENT_ERROR_INVALID_ENUM, TENT_REASON_UNKNOWN_OPCODE},
                 "a wrong request with a notification");
  trial.requireUntouched("refused notifications");
  // What is sent after them overtakes nothing: were one on its way, it would come first.
  require(api.tent_send_notifs(trial.initiator, trial.segment, "last", "") == 0, "tent_send_notifs fails");
  require(receiveOne(trial, "refused calls and one that is not").first == "last",
          "a refused call sent its notification");
  return "NULL and too long ones; a refused call sends none";
}

constexpr std::array<BehaviourCheck, 3> kNotificationChecks{{
    {"notifications.legacy", Needs::kLegacy, legacyArrives},
    {"notifications.parity", Needs::kV1, parity},
    {"notifications.refused", Needs::kV1, refused},
}};

}  // namespace

std::span<const BehaviourCheck> notificationChecks() {
  return kNotificationChecks;
}

}  // namespace tent::tool
