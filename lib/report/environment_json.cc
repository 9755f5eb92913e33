#include "report/environment_json.h"

namespace tent {
namespace {

void writeTransports(JsonWriter& json, std::string_view key, TransportSet set) {
  json.key(key);
  json.beginArray();
  for (Transport transport : listOf(set)) json.string(nameOf(transport));
  json.endArray();
}

void writePlace(JsonWriter& json, const std::optional<int>& numa_node, const std::string& pci_path) {
  if (numa_node) json.key("numa_node"), json.integer(*numa_node);
  if (!pci_path.empty()) json.field("pci_path", pci_path);
}

void writeGid(JsonWriter& json, const Gid& gid, const Redactor& redactor) {
  json.breakLine();
  json.beginObject();
  json.key("index"), json.integer(gid.index);
  json.field("gid", toString(redactor.gid(gid.address)));
  json.field("type", nameOf(gid.type));
  if (!gid.interface.empty()) json.field("interface", redactor.device(gid.interface));
  json.endObject();
}

void writeNic(JsonWriter& json, const Nic& nic, const Redactor& redactor) {
  json.breakLine();
  json.beginObject();
  json.field("name", redactor.device(nic.name));
  json.key("port"), json.integer(nic.port);
  json.key("active"), json.boolean(nic.active);
  writePlace(json, nic.numa_node, nic.pci_path);
  json.key("speed_gbps"), json.number(nic.speed_gbps);
  json.field("link_layer", nameOf(nic.link_layer));
  json.key("mtu"), json.integer(nic.mtu_bytes);
  json.key("gpu_direct"), json.boolean(nic.gpu_direct);
  json.key("gids");
  json.beginArray();
  for (const Gid& gid : nic.gids) writeGid(json, gid, redactor);
  json.endArray();
  json.endObject();
}

void writeHost(JsonWriter& json, const HostInventory& host, const Redactor& redactor) {
  json.beginObject();
  json.field("name", redactor.host(host.name));
  json.key("gpu_copy"), json.boolean(host.gpu_copy);
  json.key("memories");
  json.beginArray();
  for (const Memory& memory : host.memories) {
    json.breakLine();
    json.beginObject();
    json.field("memory", toString(memory.location));
    writePlace(json, memory.numa_node, memory.pci_path);
    json.endObject();
  }
  json.endArray();
  json.key("nics");
  json.beginArray();
  for (const Nic& nic : host.nics) writeNic(json, nic, redactor);
  json.endArray();
}

}  // namespace

void writeEnvironment(JsonWriter& json, const Environment& environment, std::string_view description,
                      const Redactor& redactor) {
  json.beginObject();
  json.key("schema_version"), json.integer(1);
  json.field("description", description);
  writeTransports(json, "built", environment.built);
  writeTransports(json, "disabled", environment.disabled);
  json.key("same_machine"), json.boolean(environment.same_machine);
  json.key("peer_reachable"), json.boolean(environment.peer_reachable);
  writeTransports(json, "unhealthy", environment.unhealthy);
  json.breakLine();
  json.key("local"), writeHost(json, environment.local, redactor), json.endObject();
  json.breakLine();
  json.key("peer"), writeHost(json, environment.peer, redactor);
  writeTransports(json, "lacks", environment.peer_lacks);
  json.endObject();
  json.breakLine();
  json.endObject();
}

}  // namespace tent
