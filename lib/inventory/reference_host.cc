#include "inventory/environment.h"

namespace tent {

// Every part is written out although most equal the defaults of the structs: plans made against this host are compared
// across builds and machines, so a default that changes elsewhere must not change them.
Environment referenceEnvironment() {
  HostInventory host;
  host.name = "reference host";
  host.nics = {};
  host.memories = {Memory{.location = {MemoryKind::kCpu, -1}, .numa_node = std::nullopt, .pci_path = ""}};
  host.gpu_copy = false;

  Environment environment;
  environment.origin = Environment::Origin::kReference;
  environment.same_machine = true;
  environment.peer_reachable = true;
  for (Transport transport : {Transport::kShm, Transport::kTcp, Transport::kRdma}) environment.built.add(transport);
  environment.disabled = {};
  environment.peer_lacks = {};
  environment.unhealthy = {};
  environment.local = host;
  environment.peer = host;
  return environment;
}

}  // namespace tent
