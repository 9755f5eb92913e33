#include "config/environment_reader.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "config/fields.h"
#include "config/value_fields.h"

namespace tent {
namespace {

constexpr std::array kLinkLayers{LinkLayer::kEthernet, LinkLayer::kInfiniband};
constexpr std::array kGidTypes{GidType::kRoceV1, GidType::kRoceV2, GidType::kIb};
constexpr std::array kPathMtus{256, 512, 1024, 2048, 4096};
constexpr int64_t kPortMax = 255;
constexpr int64_t kNumaNodeMax = 1023;
constexpr int64_t kGidIndexMax = 65535;
constexpr double kSpeedMax = 100'000;  // Gbit/s

// -1 is how the kernel writes that it does not know.
std::optional<int> readNumaNode(ObjectReader& object) {
  const std::optional<int64_t> node = object.integer("numa_node", -1, kNumaNodeMax);
  if (!node || *node < 0) return std::nullopt;
  return static_cast<int>(*node);
}

int readMtu(ObjectReader& object, int absent) {
  const std::optional<int64_t> mtu = object.integer("mtu", 0, std::numeric_limits<int32_t>::max());
  if (!mtu) return absent;
  if (std::ranges::find(kPathMtus, *mtu) == kPathMtus.end()) {
    object.fault("mtu", fmt::format("{} is no path MTU: 256, 512, 1024, 2048 or 4096", *mtu));
  }
  return static_cast<int>(*mtu);
}

std::optional<Gid> readGid(const JsonValue& value, const std::string& pointer, FaultList& faults, LinkLayer link_layer,
                           Uniqueness& indices) {
  ObjectReader object(value, pointer, faults);
  object.require("index");
  object.require("gid");
  Gid gid;
  const std::optional<int64_t> index = object.integer("index", 0, kGidIndexMax);
  const std::optional<std::string> text = object.string("gid");
  const std::optional<GidAddress> address = text ? parseGid(*text) : std::nullopt;
  if (text && !address) object.fault("gid", fmt::format("\"{}\" is no IPv6 address", *text));
  gid.type = readNamed(object, "type", kGidTypes)
                 .value_or(link_layer == LinkLayer::kInfiniband ? GidType::kIb : GidType::kRoceV2);
  gid.interface = object.string("interface").value_or("");
  object.finish(UnknownKeys::kError);
  if (!index || !indices.first(object, "index", std::to_string(*index)) || !address) return std::nullopt;
  gid.index = static_cast<int>(*index);
  gid.address = *address;
  return gid;
}

std::optional<Nic> readNic(const JsonValue& value, const std::string& pointer, FaultList& faults, Uniqueness& names) {
  ObjectReader object(value, pointer, faults);
  Nic nic;
  object.require("name");
  const std::optional<std::string> name = readNonEmptyString(object, "name");
  nic.port = static_cast<int>(object.integer("port", 1, kPortMax).value_or(nic.port));
  nic.active = object.boolean("active").value_or(nic.active);
  nic.numa_node = readNumaNode(object);
  nic.pci_path = object.string("pci_path").value_or("");
  nic.speed_gbps = object.number("speed_gbps", 0, kSpeedMax).value_or(0);
  nic.link_layer = readNamed(object, "link_layer", kLinkLayers).value_or(nic.link_layer);
  nic.mtu_bytes = readMtu(object, nic.mtu_bytes);
  nic.gpu_direct = object.boolean("gpu_direct").value_or(nic.gpu_direct);
  if (const std::vector<JsonValue>* items = object.array("gids")) {
    Uniqueness indices("the GID index");
    for (size_t i = 0; i < items->size(); ++i) {
      auto gid = readGid((*items)[i], pointerTo(object.pointerOf("gids"), i), faults, nic.link_layer, indices);
      if (gid) nic.gids.push_back(*std::move(gid));
    }
    std::ranges::sort(nic.gids, {}, &Gid::index);
  }
  object.finish(UnknownKeys::kError);
  if (!name || !names.first(object, "name", *name)) return std::nullopt;
  nic.name = *name;
  return nic;
}

std::optional<Memory> readMemoryEntry(const JsonValue& value, const std::string& pointer, FaultList& faults,
                                      Uniqueness& names) {
  ObjectReader object(value, pointer, faults);
  Memory memory;
  object.require("memory");
  const std::optional<MemoryLocation> location = readMemoryLocation(object, "memory");
  memory.numa_node = readNumaNode(object);
  memory.pci_path = object.string("pci_path").value_or("");
  object.finish(UnknownKeys::kError);
  if (!location || !names.first(object, "memory", toString(*location))) return std::nullopt;
  memory.location = *location;
  return memory;
}

HostInventory readHost(ObjectReader& object) {
  HostInventory host;
  host.name = object.string("name").value_or("");
  host.gpu_copy = object.boolean("gpu_copy").value_or(host.gpu_copy);
  if (const std::vector<JsonValue>* items = object.array("memories")) {
    Uniqueness names("the memory");
    for (size_t i = 0; i < items->size(); ++i) {
      auto memory = readMemoryEntry((*items)[i], pointerTo(object.pointerOf("memories"), i), object.faults(), names);
      if (memory) host.memories.push_back(*std::move(memory));
    }
  }
  if (const std::vector<JsonValue>* items = object.array("nics")) {
    Uniqueness names("the NIC");
    for (size_t i = 0; i < items->size(); ++i) {
      auto nic = readNic((*items)[i], pointerTo(object.pointerOf("nics"), i), object.faults(), names);
      if (nic) host.nics.push_back(*std::move(nic));
    }
  }
  return host;
}

TransportSet defaultBuilt() {
  TransportSet built;
  built.add(Transport::kShm);
  built.add(Transport::kTcp);
  return built;
}

}  // namespace

Environment readEnvironment(const JsonValue& document, FaultList& faults) {
  ObjectReader object(document, "", faults);
  Environment environment;
  environment.origin = Environment::Origin::kFile;
  readSchemaVersion(object);
  object.string("description");
  environment.peer_reachable = object.boolean("peer_reachable").value_or(environment.peer_reachable);
  environment.built = readTransportSet(object, "built").value_or(defaultBuilt());
  environment.disabled = readTransportSet(object, "disabled").value_or(TransportSet{});
  environment.unhealthy = readTransportSet(object, "unhealthy").value_or(TransportSet{});
  if (const JsonValue* value = object.take("local")) {
    ObjectReader local(*value, object.pointerOf("local"), faults);
    environment.local = readHost(local);
    local.finish(UnknownKeys::kError);
  }
  const JsonValue* described_peer = object.take("peer");
  if (const JsonValue* value = described_peer) {
    ObjectReader peer(*value, object.pointerOf("peer"), faults);
    environment.peer = readHost(peer);
    environment.peer_lacks = readTransportSet(peer, "lacks").value_or(TransportSet{});
    peer.finish(UnknownKeys::kError);
  }
  environment.same_machine = object.boolean("same_machine").value_or(described_peer == nullptr);
  if (environment.same_machine && described_peer == nullptr) environment.peer = environment.local;
  object.finish(UnknownKeys::kError);
  return environment;
}

}  // namespace tent
