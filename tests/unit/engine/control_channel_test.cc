// The control channel between two engines: on bad sockets, and to peers that are named in other ways than by address.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/stormy_calls.h"
#include "support/temporary_folder.h"
#include "unit/engine/two_engines.h"

namespace tent {
namespace {

constexpr uint64_t kBytes = 300'001;
const std::string kWithoutShm = R"("transports": {"shm": {"enable": false}})";

std::string nameOfLocalhost(const Engine& engine) {
  return "localhost" + engine.address().substr(engine.address().rfind(':'));
}

// Opens the target, looks at its bytes, reads them, and sends it a notification.
void useAll(Engine& initiator, Engine& target, const std::byte* remote) {
  const auto segment = initiator.openSegment(target.address());
  INFO((segment ? "" : messageOf(segment.error())));
  REQUIRE(segment);
  const auto info = initiator.segmentInfo(*segment);
  REQUIRE(info);
  REQUIRE(info->buffers.size() == 1);
  const auto address = reinterpret_cast<uintptr_t>(remote);
  const std::vector<Engine::Range> ranges{{address, kBytes}, {address + 1, 1000}};
  CHECK(initiator.checksums(*segment, ranges));
  std::vector<std::byte> local(kBytes);
  Request request;
  request.fields.opcode = static_cast<int32_t>(Opcode::kRead);
  request.fields.length = kBytes;
  request.fields.target_offset = address;
  request.source = local.data();
  request.target = *segment;
  const BatchId batch = initiator.allocateBatch(1).value();
  REQUIRE(initiator.submit(batch, {&request, 1}, ValidationMode::kStrict));
  REQUIRE(initiator.wait(batch, kWatchdogNs).value());
  CHECK(initiator.taskStatus(batch, 0)->state == TaskState::kCompleted);
  CHECK(std::equal(local.begin(), local.end(), remote));
  CHECK_FALSE(initiator.sendNotification(*segment, {"name", std::string(4000, 'm')}));
  const std::vector<Notification> received = target.receiveNotifications();
  REQUIRE(received.size() == 1);
  CHECK(received[0].message == std::string(4000, 'm'));
}

}  // namespace

TEST_CASE("short reads and writes, interruptions and refusals to block change nothing, secured or not") {
  const TemporaryFolder folder;
  const std::string token = "\"token_file\": \"" + folder.write("token", "0123456789abcdefghijklmnopqrstuvwxyz") + '"';
  const StormyCalls storm;
  for (const std::string& auth : {token, token + R"(, "encrypt_data": true)", std::string(R"("mode": "none")")}) {
    CAPTURE(auth);
    const std::string config = "{\"auth\": {" + auth + "}, " + kWithoutShm + "}";
    const auto target = makeEngine(config);
    const auto initiator = makeEngine(config);
    auto* const remote = static_cast<std::byte*>(target->allocateMemory(kBytes).value());
    fill(remote, kBytes, 1);
    useAll(*initiator, *target, remote);
  }
}

TEST_CASE("a peer is found by the name of its host") {
  const auto target = makeEngine("{" + kWithoutShm + "}");
  const auto initiator = makeEngine("{" + kWithoutShm + "}");
  auto* const remote = static_cast<std::byte*>(target->allocateMemory(kBytes).value());
  fill(remote, kBytes, 1);
  REQUIRE(initiator->openSegment(nameOfLocalhost(*target)));
  useAll(*initiator, *target, remote);
}

TEST_CASE("a host of which nobody knows is peer_unreachable, by its name") {
  const auto opened = makeEngine()->openSegment("nobody.invalid:4711");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().reason == Reason::kPeerUnreachable);
  CHECK(opened.error().detail.find("nobody.invalid:4711") != std::string::npos);
}

}  // namespace tent
