#include "unit/engine/two_engines.h"

#include <doctest/doctest.h>

#include "config/fault.h"
#include "config/json_value.h"

namespace tent {

EngineConfig configOf(const std::string& json) {
  FaultList faults("test");
  const auto document = parseJson(json, faults);
  REQUIRE(document);
  EngineConfig config = readEngineConfig(*document, faults);
  INFO(faults.format());
  REQUIRE_FALSE(faults.hasErrors());
  return config;
}

std::unique_ptr<Engine> makeEngine(const std::string& config_json, EngineOptions options) {
  auto engine = Engine::create(configOf(config_json), std::move(options));
  INFO((engine ? "" : messageOf(engine.error())));
  REQUIRE(engine);
  return *std::move(engine);
}

TwoEngines::TwoEngines(uint64_t bytes, Registration registration, const std::string& initiator_config,
                       EngineOptions initiator_options, EngineOptions target_options, const std::string& target_config)
    : local(bytes),
      target(makeEngine(target_config, std::move(target_options))),
      initiator(makeEngine(initiator_config, std::move(initiator_options))) {
  if (registration == Registration::kAllocated) {
    remote = static_cast<std::byte*>(target->allocateMemory(bytes).value());
  } else {
    application_memory.resize(bytes);
    remote = application_memory.data();
    REQUIRE_FALSE(target->registerMemory(remote, bytes));
  }
  const auto opened = initiator->openSegment(target->address());
  REQUIRE(opened);
  segment = *opened;
}

Request TwoEngines::request(Opcode opcode, uint64_t offset, uint64_t length, Transport hint) const {
  Request request;
  request.fields.opcode = static_cast<int32_t>(opcode);
  request.fields.length = length;
  request.fields.target_offset = reinterpret_cast<uintptr_t>(remote) + offset;
  request.fields.transport_hint = static_cast<int32_t>(hint);
  request.source = const_cast<std::byte*>(local.data()) + offset;
  request.target = segment;
  return request;
}

BatchId TwoEngines::run(const std::vector<Request>& requests) {
  const BatchId batch = initiator->allocateBatch(requests.size()).value();
  const auto submitted = initiator->submit(batch, requests, ValidationMode::kStrict);
  INFO((submitted ? "" : messageOf(submitted.error().error)));
  REQUIRE(submitted);
  REQUIRE(initiator->wait(batch, kWatchdogNs).value());
  return batch;
}

TaskReport TwoEngines::report(BatchId batch, size_t task) const {
  return initiator->taskReport(batch, task).value();
}

Error TwoEngines::refused(const std::vector<Request>& requests) {
  const BatchId batch = initiator->allocateBatch(requests.size()).value();
  const auto submitted = initiator->submit(batch, requests, ValidationMode::kStrict);
  REQUIRE_FALSE(submitted);
  CHECK_FALSE(initiator->freeBatch(batch));
  return submitted.error().error;
}

void fill(std::byte* data, uint64_t bytes, uint64_t seed) {
  uint64_t state = seed * 0x9e37'79b9'7f4a'7c15 + 1;
  for (uint64_t i = 0; i < bytes; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    data[i] = static_cast<std::byte>(state >> 56);
  }
}

}  // namespace tent
