// Notifications through the C API: by themselves, and behind the data of a submit.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "abi/c_engines.h"

namespace tent::abi_test {
namespace {

std::vector<std::string> receivedBy(tent_engine_t engine) {
  tent_notifi_info info{};
  REQUIRE(tent_recv_notifs(engine, &info) == 0);
  std::vector<std::string> texts;
  for (int i = 0; i < info.num_records; ++i) {
    texts.push_back(std::string(info.records[i].name) + "=" + info.records[i].msg);
  }
  tent_free_notifs(&info);
  tent_free_notifs(&info);
  return texts;
}

TEST_CASE("a notification arrives once, after the data, by both APIs") {
  for (const bool v1 : {false, true}) {
    TwoCEngines two;
    std::fill(two.local.begin(), two.local.end(), static_cast<unsigned char>(3));
    if (v1) {
      const std::vector<tent_request_v1_t> requests(3, two.request(OPCODE_WRITE, 0, TwoCEngines::kBytes));
      REQUIRE(tent_submit_v1_notif(two.initiator, two.batch, requests.data(), 3, "done", "block \xff 7") == TENT_OK);
    } else {
      std::vector<tent_request_t> requests(3, two.legacy(OPCODE_WRITE, 0, TwoCEngines::kBytes));
      REQUIRE(tent_submit_notif(two.initiator, two.batch, requests.data(), 3, "done", "block \xff 7") == 0);
    }
    std::vector<std::string> received;
    while (received.empty()) received = receivedBy(two.target);
    CHECK(two.remote[TwoCEngines::kBytes - 1] == 3);
    CHECK(received == std::vector<std::string>{"done=block \xff 7"});
    REQUIRE(two.wait() == TENT_OK);
    CHECK(two.overall() == STATUS_COMPLETED);
    CHECK(receivedBy(two.target).empty());
  }
}

TEST_CASE("the batch is in flight until its notification was received") {
  TwoCEngines two;
  const tent_request_v1_t write = two.request(OPCODE_WRITE);
  REQUIRE(tent_submit_v1_notif(two.initiator, two.batch, &write, 1, "n", "m") == TENT_OK);
  REQUIRE(two.wait() == TENT_OK);
  CHECK(receivedBy(two.target).size() == 1);
}

TEST_CASE("no notification is sent for a submit that is refused or of which a task fails") {
  TwoCEngines two;
  std::vector<tent_request_v1_t> requests(2, two.request(OPCODE_WRITE));
  requests[1].length = 0;
  CHECK(tent_submit_v1_notif(two.initiator, two.batch, requests.data(), 2, "n", "m") == TENT_ERROR_INVALID_ARGUMENT);
  std::vector<tent_request_t> legacy(2, two.legacy(OPCODE_WRITE));
  legacy[1].target_offset = 1;
  REQUIRE(tent_submit_notif(two.initiator, two.batch, legacy.data(), 2, "n", "m") == 0);
  REQUIRE(two.wait() == TENT_OK);
  REQUIRE(tent_send_notifs(two.initiator, two.segment, "last", "") == 0);  // what came before would be before it
  CHECK(receivedBy(two.target) == std::vector<std::string>{"last="});
}

TEST_CASE("a plain and a notifying submit accept and refuse the same") {
  TwoCEngines two;
  std::vector<tent_request_v1_t> cases(12, two.request(OPCODE_WRITE));
  cases[1].opcode = -1;
  cases[2].source = nullptr;
  cases[3].length = 0;
  cases[4].intent_type = 99;
  cases[5].requested_priority = 4;
  cases[6].deadline_ns = UINT64_MAX;
  cases[7].policy_name = "";
  cases[8].transport_hint = 13;
  cases[9].flags = 1;
  cases[10].struct_size = 47;
  cases[11].target_id = 1u << 30;
  for (const tent_request_v1_t& request : cases) {
    const int plain = tent_submit_v1(two.initiator, two.batch, &request, 1);
    const tent_result_t plain_error = lastError();
    const int notifying = tent_submit_v1_notif(two.initiator, two.batch, &request, 1, "n", "m");
    CHECK(plain == notifying);
    if (plain != TENT_OK) CHECK(std::string(plain_error.message) == lastError().message);
  }
  CHECK(tent_submit_v1_notif(two.initiator, two.batch, cases.data(), 1, nullptr, "m") == TENT_ERROR_INVALID_ARGUMENT);
  CHECK(lastError().reason == TENT_REASON_NULL_NOTIFICATION);
  const std::string long_name(256, 'n');
  const std::string long_message(4096, 'm');
  CHECK(tent_submit_v1_notif(two.initiator, two.batch, cases.data(), 1, long_name.c_str(), "m") == -4);
  CHECK(lastError().reason == TENT_REASON_NOTIFICATION_TOO_LONG);
  CHECK(tent_submit_v1_notif(two.initiator, two.batch, cases.data(), 1, "n", long_message.c_str()) == -4);
  CHECK(tent_submit_v1_notif(two.initiator, two.batch, cases.data(), 1, long_name.substr(1).c_str(),
                             long_message.substr(1).c_str()) == TENT_OK);
  REQUIRE(two.wait() == TENT_OK);
  CHECK(two.overall() == STATUS_COMPLETED);
}

TEST_CASE("a notification that nobody can receive fails the batch's status") {
  TwoCEngines two;
  auto gone = std::make_unique<CEngine>();
  void* memory = nullptr;
  REQUIRE(tent_allocate_memory(*gone, &memory, 4096, nullptr) == 0);
  tent_segment_id_t segment = 0;
  REQUIRE(tent_open_segment(two.initiator, &segment, gone->name().c_str()) == 0);
  tent_request_v1_t write = two.request(OPCODE_WRITE);
  write.target_id = segment;
  write.target_offset = reinterpret_cast<uint64_t>(memory);
  REQUIRE(tent_submit_v1(two.initiator, two.batch, &write, 1) == TENT_OK);  // the way is open
  REQUIRE(two.wait() == TENT_OK);
  gone.reset();
  const tent_batch_id_t batch = tent_allocate_batch(two.initiator, 1);
  const int code = tent_submit_v1_notif(two.initiator, batch, &write, 1, "n", "m");
  if (code == TENT_OK) {
    REQUIRE(tent_wait_batch(two.initiator, batch, UINT64_MAX) == TENT_OK);
    tent_status_t status{};
    REQUIRE(tent_overall_status(two.initiator, batch, &status) == 0);
    CHECK(status.status == STATUS_FAILED);
  }
  CHECK(tent_free_batch(two.initiator, batch) == 0);
}

}  // namespace
}  // namespace tent::abi_test
