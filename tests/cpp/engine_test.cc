// Transfers by the C++ API, and that what it refuses is what the C API refuses.
#include <algorithm>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#include <doctest/doctest.h>

#include "tent/engine.h"

namespace {

using namespace std::chrono_literals;

void require(const tent::Status& status) {
  REQUIRE_MESSAGE(status.ok(), status.toString());
}

// An initiator with memory of its own and an open segment of a target.
struct TwoEngines {
  static constexpr size_t kBytes = 1u << 20;

  TwoEngines() : local(kBytes) {
    require(initiator.creationStatus());
    require(target.creationStatus());
    void* memory = nullptr;
    require(target.allocateLocalMemory(&memory, kBytes));
    remote = static_cast<unsigned char*>(memory);
    require(initiator.registerLocalMemory(local.data(), local.size()));
    require(initiator.openSegment(segment, target.getSegmentName()));
    batch = initiator.allocateBatch(256);
    REQUIRE(batch != 0);
  }
  TwoEngines(const TwoEngines&) = delete;
  TwoEngines& operator=(const TwoEngines&) = delete;
  ~TwoEngines() { static_cast<void>(initiator.waitBatch(batch, 10s)); }

  tent::Request request(tent::Request::OpCode opcode, size_t offset = 0, size_t length = 4096) {
    return {opcode, local.data() + offset, segment, reinterpret_cast<uint64_t>(remote) + offset, length};
  }

  tent::TransferEngine initiator;
  tent::TransferEngine target;
  std::vector<unsigned char> local;
  unsigned char* remote = nullptr;
  tent::SegmentID segment = 0;
  tent::BatchID batch = 0;
};

TEST_CASE("bytes are written and read back, by each transport that is built") {
  for (const tent::TransportType transport : {tent::UNSPEC, tent::SHM, tent::TCP}) {
    CAPTURE(transport);
    TwoEngines two;
    std::iota(two.local.begin(), two.local.end(), static_cast<unsigned char>(1));
    tent::Request write = two.request(tent::Request::WRITE, 0, TwoEngines::kBytes);
    write.transport_hint = transport;
    require(two.initiator.submitTransfer(two.batch, {write}));
    require(two.initiator.waitBatch(two.batch, 10s));
    CHECK(std::equal(two.local.begin(), two.local.end(), two.remote));

    std::reverse(two.remote, two.remote + TwoEngines::kBytes);
    tent::Request read = two.request(tent::Request::READ, 0, TwoEngines::kBytes);
    read.transport_hint = transport;
    read.intent_type = tent::IntentType::FOREGROUND_GET;
    require(two.initiator.submitTransfer(two.batch, {read}));
    int fd = -1;
    require(two.initiator.getBatchFd(two.batch, fd));
    pollfd waits{fd, POLLIN, 0};
    REQUIRE(poll(&waits, 1, 10'000) == 1);
    CHECK(std::equal(two.local.begin(), two.local.end(), two.remote));

    tent::TransferStatus overall;
    require(two.initiator.getTransferStatus(two.batch, overall));
    CHECK(overall.s == tent::COMPLETED);
    CHECK(overall.transferred_bytes == 2 * TwoEngines::kBytes);
    require(two.initiator.freeBatch(two.batch));
    CHECK_FALSE(two.initiator.freeBatch(two.batch).ok());
  }
}

TEST_CASE("each task of a batch has its status") {
  TwoEngines two;
  std::vector<tent::Request> requests;
  for (size_t i = 0; i < 200; ++i) requests.push_back(two.request(tent::Request::WRITE, 4096 * i, i + 1));
  require(two.initiator.submitTransfer(two.batch, requests));
  require(two.initiator.waitBatch(two.batch));
  std::vector<tent::TransferStatus> statuses;
  require(two.initiator.getTransferStatus(two.batch, statuses));
  REQUIRE(statuses.size() == requests.size());
  for (size_t i = 0; i < statuses.size(); ++i) {
    CHECK(statuses[i].s == tent::COMPLETED);
    CHECK(statuses[i].transferred_bytes == i + 1);
  }
  tent::TransferStatus last;
  require(two.initiator.getTransferStatus(two.batch, 199, last));
  CHECK(last.transferred_bytes == 200);
  CHECK(two.initiator.getTransferStatus(two.batch, 200, last).code() == tent::Status::Code::kInvalidArgument);
}

TEST_CASE("a submit with one wrong request moves nothing, and names it") {
  TwoEngines two;
  std::fill(two.local.begin(), two.local.end(), static_cast<unsigned char>(9));
  std::vector<tent::Request> requests(5, two.request(tent::Request::WRITE));
  requests[3].intent_type = static_cast<tent::IntentType>(99);
  requests[4].length = 0;
  const tent::Status status = two.initiator.submitTransfer(two.batch, requests);
  CHECK(status.code() == tent::Status::Code::kInvalidEnum);
  CHECK(status.reason() == TENT_REASON_UNKNOWN_INTENT_TYPE);
  CHECK(status.field() == TENT_FIELD_INTENT_TYPE);
  CHECK(status.index() == 3);
  CHECK(status.failing() == 2);
  CHECK(two.remote[0] == 0);
  std::vector<tent::TransferStatus> statuses;
  require(two.initiator.getTransferStatus(two.batch, statuses));
  CHECK(statuses.empty());
  // The mode of the call.
  requests.pop_back();
  require(two.initiator.submitTransfer(two.batch, requests, tent::ValidationMode::COMPAT));
  require(two.initiator.waitBatch(two.batch, 10s));
  CHECK(two.remote[0] == 9);
}

TEST_CASE("what normalizeTransferIntent refuses, a submit refuses in the same words") {
  TwoEngines two;
  std::vector<tent::Request> wrong(9, two.request(tent::Request::READ));
  wrong[0].opcode = static_cast<tent::Request::OpCode>(2);
  wrong[1].source = nullptr;
  wrong[2].length = 0;
  wrong[3].target_offset = UINT64_MAX;
  wrong[4].intent_type = tent::IntentType::STAGING_INTERNAL;
  wrong[5].requested_priority = static_cast<tent::RequestedPriority>(4);
  wrong[6].deadline_ns = 1'700'000'000'000'000'000;
  wrong[7].policy_name = std::string("a\0b", 3);
  wrong[8].transport_hint = static_cast<tent::TransportType>(-5);
  for (const tent::Request& request : wrong) {
    tent::NormalizedTransferIntent intent;
    const tent::Status alone = tent::normalizeTransferIntent(request, intent);
    const tent::Status submitted = two.initiator.submitTransfer(two.batch, {request});
    CHECK_FALSE(alone.ok());
    CHECK(alone.toString() == submitted.toString());
    CHECK(alone.field() == submitted.field());
  }
}

TEST_CASE("a notification comes after the data, and one that C could not carry is refused") {
  TwoEngines two;
  two.local[0] = 5;
  require(two.initiator.submitTransfer(two.batch, {two.request(tent::Request::WRITE)}, {"done", "step 7"}));
  require(two.initiator.waitBatch(two.batch, 10s));
  std::vector<tent::Notification> arrived(3);
  require(two.target.receiveNotification(arrived));
  REQUIRE(arrived.size() == 1);
  CHECK(arrived[0].name == "done");
  CHECK(arrived[0].msg == "step 7");
  CHECK(two.remote[0] == 5);
  require(two.initiator.sendNotification(two.segment, {"alone", ""}));
  const std::string nul("a\0b", 3);
  CHECK(two.initiator.sendNotification(two.segment, {nul, ""}).field() == TENT_FIELD_NOTIFICATION);
  CHECK(two.initiator.submitTransfer(two.batch, {two.request(tent::Request::WRITE)}, {"n", nul}).code() ==
        tent::Status::Code::kInvalidArgument);
  CHECK(two.initiator.sendNotification(two.segment, {std::string(256, 'n'), ""}).reason() ==
        TENT_REASON_NOTIFICATION_TOO_LONG);
}

TEST_CASE("an explanation says by which interface the request came, and submits nothing") {
  TwoEngines two;
  tent::Request request = two.request(tent::Request::READ);
  request.requested_priority = tent::RequestedPriority::UNSPEC;
  tent::Request refused = request;
  refused.length = 0;
  std::string json;
  require(two.initiator.explainTransfer({request, refused}, {}, json));
  CHECK(json.find("\"surface\":\"cpp\"") != std::string::npos);
  CHECK(json.find("\"reason\":\"zero_length\"") != std::string::npos);
  CHECK(json.front() == '[');
  CHECK(json.back() == ']');
  std::vector<tent::TransferStatus> statuses;
  require(two.initiator.getTransferStatus(two.batch, statuses));
  CHECK(statuses.empty());

  tent::ExplainOptions by_python;
  by_python.surface = TENT_SURFACE_PYTHON;
  require(two.initiator.explainTransfer({request}, by_python, json));
  CHECK(json.find("\"surface\":\"python\"") != std::string::npos);

  tent::ExplainOptions against;
  against.environment = "{\"nics\": 7}";
  std::string untouched = "as it was";
  CHECK(two.initiator.explainTransfer({request}, against, untouched).reason() == TENT_REASON_BAD_CONFIGURATION);
  CHECK(untouched == "as it was");
  require(two.initiator.explainTransfer({}, {}, json));
  CHECK(json.size() < 5);
}

TEST_CASE("memory is unregistered with or without its size, and lists are all or nothing") {
  tent::TransferEngine engine;
  require(engine.creationStatus());
  std::vector<char> memory(3 * 4096);
  char* const p = memory.data();
  require(engine.registerLocalMemory(p, 4096, tent::kGlobalReadOnly));
  require(engine.unregisterLocalMemory(p));
  CHECK(engine.unregisterLocalMemory(p).reason() == TENT_REASON_REGISTRATION_FAILED);
  require(engine.registerLocalMemory({p, p + 4096}, {4096, 4096}));
  CHECK(engine.registerLocalMemory({p + 8192, p + 100}, {4096, 10'000}).index() == 1);
  CHECK(engine.unregisterLocalMemory(p + 8192).reason() == TENT_REASON_REGISTRATION_FAILED);
  require(engine.unregisterLocalMemory({p, p + 4096}));
  CHECK_FALSE(engine.registerLocalMemory({p, p + 4096}, {4096}).ok());
  tent::MemoryOptions options;
  options.location = std::string(300, 'x');
  CHECK_FALSE(engine.registerLocalMemory(p, 4096, options).ok());
  options.location = "cpu:0";
  options.perm = tent::kLocalReadWrite;
  void* allocated = nullptr;
  require(engine.allocateLocalMemory(&allocated, 4096, options));
  require(engine.freeLocalMemory(allocated));
  CHECK_FALSE(engine.freeLocalMemory(allocated).ok());
}

TEST_CASE("the target's permission holds, and the task says so") {
  TwoEngines two;
  std::vector<char> readable(4096);
  require(two.target.registerLocalMemory(readable.data(), readable.size(), tent::kGlobalReadOnly));
  tent::Request write = two.request(tent::Request::WRITE);
  write.target_offset = reinterpret_cast<uint64_t>(readable.data());
  const tent::Status status = two.initiator.submitTransfer(two.batch, {write});
  CHECK(status.reason() == TENT_REASON_PERMISSION_DENIED);
  tent::SegmentInfo info;
  require(two.initiator.getSegmentInfo(two.segment, info));
  CHECK(info.type == tent::SegmentInfo::Memory);
  CHECK(info.buffers.size() == 2);
  require(two.initiator.closeSegment(two.segment));
}

TEST_CASE("an engine that does not come to life says why, and refuses every call") {
  for (const std::string& config :
       {std::string("/nowhere/engine.json"), std::string("{\"rpc_server_port\": \"x\"}"), std::string("{}\0", 3)}) {
    CAPTURE(config);
    tent::TransferEngine engine(config);
    CHECK_FALSE(engine.available());
    CHECK(engine.creationStatus().reason() == TENT_REASON_BAD_CONFIGURATION);
    CHECK_FALSE(engine.creationStatus().message().empty());
    CHECK(engine.getSegmentName().empty());
    CHECK(engine.getRpcServerPort() == 0);
    CHECK(engine.allocateBatch(1) == 0);
    CHECK(tent::lastStatus().reason() == TENT_REASON_NULL_ENGINE);
    std::vector<tent::Notification> none;
    CHECK_FALSE(engine.receiveNotification(none).ok());
  }
}

TEST_CASE("closing an engine ends the waits of other threads, and refuses what comes later") {
  TwoEngines two;
  std::vector<tent::Request> requests(64, two.request(tent::Request::WRITE, 0, TwoEngines::kBytes));
  for (tent::Request& request : requests) request.transport_hint = tent::TCP;
  require(two.initiator.submitTransfer(two.batch, requests));
  std::thread waits([&] { static_cast<void>(two.initiator.waitBatch(two.batch)); });
  two.initiator.close();
  waits.join();
  CHECK_FALSE(two.initiator.available());
  CHECK(two.initiator.waitBatch(two.batch).reason() == TENT_REASON_NULL_ENGINE);
  two.initiator.close();
}

TEST_CASE("a configuration may be a text, and an engine knows its address") {
  tent::TransferEngine engine("{\"local_segment_name\": \"node-a\"}");
  require(engine.creationStatus());
  CHECK(engine.available());
  CHECK(engine.getSegmentName() == "node-a");
  CHECK(engine.getRpcServerAddress() == "127.0.0.1");
  CHECK(engine.getRpcServerPort() != 0);
  std::vector<tent::NicLoadStat> stats(2);
  require(engine.getNicLoadStats(stats));
  CHECK(stats.empty());
}

TEST_CASE("a reload is in force for what is submitted later, and names what takes a restart") {
  TwoEngines two;
  const auto submitted = [&] {
    tent::Request over_tcp = two.request(tent::Request::WRITE);
    over_tcp.transport_hint = tent::TCP;
    return two.initiator.submitTransfer(two.batch, {over_tcp});
  };
  std::string needs_restart = "untouched";
  CHECK(two.initiator.reloadPolicy("{\"policy\": 5}", &needs_restart).reason() == TENT_REASON_BAD_CONFIGURATION);
  CHECK(needs_restart == "untouched");
  require(submitted());
  require(
      two.initiator.reloadPolicy("{\"policy\": [{\"segment_type\": \"memory\", \"transports\": [\"shm\"]}], "
                                 "\"max_failover_attempts\": 7}",
                                 &needs_restart));
  CHECK(needs_restart == "max_failover_attempts");
  CHECK(submitted().reason() == TENT_REASON_HINT_NOT_IN_POLICY);
  require(two.initiator.reloadPolicy("{}"));
  require(submitted());
}

}  // namespace
