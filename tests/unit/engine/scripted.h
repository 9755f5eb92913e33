// Two engines with transports that do as a test says.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "transport/fake/fake_backend.h"
#include "unit/engine/two_engines.h"

namespace tent {

// `options` with the transports "rdma", "tcp" and "shm", played by fakes that follow these scripts (nullptr: all goes
// well), on a host with a NIC, so that plans have an rdma to begin with.
inline EngineOptions withFakes(std::vector<std::shared_ptr<FakeScript>> scripts, EngineOptions options = {},
                               uint32_t queue_transfers = 256) {
  options.make_backends = [scripts, queue_transfers](Loop& /*loop*/) {
    std::vector<std::unique_ptr<Backend>> backends;
    for (size_t i = 0; i < scripts.size(); ++i) {
      FakeOptions fake;
      fake.name = std::array{"rdma", "tcp", "shm"}.at(i);
      fake.queue_transfers = queue_transfers;
      fake.script = scripts[i];
      backends.push_back(makeFakeBackend(fake).value());
    }
    return backends;
  };
  Environment environment = referenceEnvironment();
  Nic nic;
  nic.name = "mlx5_0";
  nic.gids.push_back({3, *parseGid("::ffff:10.0.0.1"), GidType::kRoceV2, "eth0"});
  environment.local.nics.push_back(nic);
  environment.peer = environment.local;
  options.environment = environment;
  return options;
}

// Both ends have these transports; the initiator's follow scripts. "shm" is used only where a configuration lists it.
struct Scripted {
  explicit Scripted(
      const std::string& config = R"({"policy": [{"segment_type": "memory", "transports": ["rdma", "tcp"]}]})",
      uint32_t queue_transfers = 256)
      : engines(1u << 16, Registration::kApplication, config, withFakes({rdma, tcp, shm}, {}, queue_transfers),
                withFakes({nullptr, nullptr, nullptr}, {}, queue_transfers)) {}

  TaskReport run(Opcode opcode = Opcode::kWrite) {
    return engines.report(engines.run({engines.request(opcode, 0, 4096)}));
  }

  std::shared_ptr<FakeScript> rdma = std::make_shared<FakeScript>();
  std::shared_ptr<FakeScript> tcp = std::make_shared<FakeScript>();
  std::shared_ptr<FakeScript> shm = std::make_shared<FakeScript>();
  TwoEngines engines;
};

}  // namespace tent
