#include "tent-explain/probe.h"

#include <cstdio>

#include <fmt/format.h>

#include "base/text.h"
#include "common/version.h"
#include "report/environment_json.h"

namespace tent::tool {
namespace {

constexpr std::string_view kDescription =
    "this machine as sysfs tells; limits and active MTUs of RDMA devices need the rdma transport";

std::string orUnknown(const std::string& text) {
  return text.empty() ? "unknown" : escapeForTerminal(text);
}

std::string nodeText(const std::optional<int>& node) {
  return node ? std::to_string(*node) : "unknown";
}

void appendNic(std::string& out, const Nic& nic, const Redactor& redactor) {
  out += fmt::format("  {} port {}: {}, {}, {} Gb/s, MTU {}, NUMA node {}, PCI path {}, GPU memory {}\n",
                     escapeForTerminal(redactor.device(nic.name)), nic.port, nic.active ? "active" : "not active",
                     nameOf(nic.link_layer), nic.speed_gbps, nic.mtu_bytes, nodeText(nic.numa_node),
                     orUnknown(nic.pci_path), nic.gpu_direct ? "yes" : "no");
  for (const Gid& gid : nic.gids) {
    out += fmt::format("    GID {}: {} {}, {}, interface {}\n", gid.index,
                       redactor.sentence(describe(redactor.gid(gid.address)), {}), nameOf(gid.type),
                       describe(classOf(gid.address)), orUnknown(redactor.device(gid.interface)));
  }
}

std::string environmentText(const Environment& environment, const Redactor& redactor) {
  const HostInventory& host = environment.local;
  std::string built;
  for (Transport transport : listOf(environment.built)) {
    built += (built.empty() ? "" : ", ") + std::string(nameOf(transport));
  }
  std::string out = fmt::format("host {}\ntransports built: {}\nmemories:\n",
                                escapeForTerminal(redactor.host(host.name)), built.empty() ? "none" : built);
  for (const Memory& memory : host.memories) {
    out += fmt::format("  {}: NUMA node {}, PCI path {}\n", toString(memory.location), nodeText(memory.numa_node),
                       orUnknown(memory.pci_path));
  }
  out += host.nics.empty() ? "RDMA devices: none\n" : "RDMA devices:\n";
  for (const Nic& nic : host.nics) appendNic(out, nic, redactor);
  return out;
}

}  // namespace

Environment probeThisMachine(bool quiet) {
  std::vector<std::string> notes;
  Environment environment = probeEnvironment(builtTransports(), "/sys", notes);
  if (!quiet) {
    for (const std::string& note : notes) std::fprintf(stderr, "note: %s\n", escapeForTerminal(note).c_str());
  }
  return environment;
}

void printEnvironment(const Environment& environment, const CommonOptions& options, const Redactor& redactor,
                      Output& output) {
  if (options.format == OutputFormat::kText) {
    output.buffer() += environmentText(environment, redactor);
    return;
  }
  JsonWriter json(output.buffer());
  writeEnvironment(json, environment, kDescription, redactor);
  output.buffer() += '\n';
}

}  // namespace tent::tool
