// The allocations of the hot path.
#include <doctest/doctest.h>

#include "engine/engine.h"
#include "support/allocations.h"
#include "unit/engine/two_engines.h"

namespace tent {
namespace {

// The allocations of the calling thread in one submit, after one like it has warmed everything up.
size_t allocationsOfSubmit(TwoEngines& engines, const std::vector<Request>& requests) {
  engines.run(requests);
  const BatchId batch = engines.initiator->allocateBatch(requests.size()).value();
  bool accepted = false;
  const size_t counted = allocationsOf(
      [&] { accepted = engines.initiator->submit(batch, requests, ValidationMode::kStrict).has_value(); });
  CHECK(accepted);
  REQUIRE(engines.initiator->wait(batch, kWatchdogNs).value());
  return counted;
}

TEST_CASE("the count sees an allocation") {
  CHECK(allocationsOf([] { delete new int(7); }) == 1);
}

// `count` requests that do not touch each other's bytes.
std::vector<Request> apart(const TwoEngines& engines, size_t count, Opcode opcode, uint64_t length, Transport hint) {
  std::vector<Request> requests;
  for (size_t i = 0; i < count; ++i) requests.push_back(engines.request(opcode, i * length, length, hint));
  return requests;
}

TEST_CASE("a submit without a policy name allocates nothing, from the request to its bytes over shm") {
  TwoEngines engines;
  std::vector<Request> requests = apart(engines, 32, Opcode::kWrite, 4096, Transport::kUnspec);
  requests[7].fields.intent_type = static_cast<int32_t>(IntentType::kForegroundGet);
  requests[8].fields.transport_hint = static_cast<int32_t>(Transport::kShm);
  CHECK(allocationsOfSubmit(engines, requests) == 0);
}

TEST_CASE("the engine's part of a submit over tcp allocates nothing either") {
  TwoEngines engines(2u << 20);
  CHECK(allocationsOfSubmit(engines, apart(engines, 32, Opcode::kRead, 65536, Transport::kTcp)) == 0);
}

TEST_CASE("the number of slices or the size of a transfer changes nothing about it") {
  TwoEngines engines(64u << 20);
  CHECK(allocationsOfSubmit(engines, {engines.request(Opcode::kWrite, 0, 1)}) ==
        allocationsOfSubmit(engines, {engines.request(Opcode::kWrite, 0, 1u << 20)}));
}

}  // namespace
}  // namespace tent
