#include "plan/nic_sentences.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tent {
namespace {

constexpr size_t kGidsShown = 4;  // a table has up to 256

// Adds a word that a list of reasons does not have yet.
void addOnce(std::vector<std::string_view>& words, std::string_view word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

std::string gidText(const Gid& gid) {
  return fmt::format("{} {}", describe(gid.type), describe(gid.address));
}

// The words that say what keeps a GID from being used unasked.
void addShortcomings(const Gid& gid, std::vector<std::string_view>& words) {
  if (classOf(gid.address) == GidClass::kLinkLocal) addOnce(words, describe(GidClass::kLinkLocal));
  if (gid.type != GidType::kRoceV2) addOnce(words, describe(gid.type));
}

std::string whyNoRoutableGid(const Nic& nic) {
  std::vector<std::string_view> kinds;
  std::vector<std::string> shown;
  size_t more = 0;
  for (const Gid& gid : nic.gids) {
    if (classOf(gid.address) == GidClass::kNull) continue;
    addShortcomings(gid, kinds);
    if (shown.size() < kGidsShown) {
      shown.push_back(fmt::format("index {} {}", gid.index, gidText(gid)));
    } else {
      ++more;
    }
  }
  std::string text = fmt::format("only {} GIDs ({}", fmt::join(kinds, " and "), fmt::join(shown, ", "));
  if (more > 0) text += fmt::format(", and {} more", more);
  return text + ")";
}

std::string whyExcluded(const RankedNic& ranked, const MemoryLocation& memory, const NicQuery& query) {
  switch (ranked.exclusion) {
    case NicExclusion::kNone: return "";
    case NicExclusion::kNotInPolicy: return "the policy's devices do not name it";
    case NicExclusion::kNotInWhitelist: return "topology.rdma_whitelist does not name it";
    case NicExclusion::kInBlacklist: return "topology.rdma_blacklist names it";
    case NicExclusion::kNotActive: return "port is not ACTIVE";
    case NicExclusion::kNoGid: return "no GID: its network interface has no address";
    case NicExclusion::kNoRoutableGid: return whyNoRoutableGid(*ranked.nic);
    case NicExclusion::kNoSuchGid:
      return fmt::format("no GID at index {}, which gid_index asks for", query.gid_index.value_or(-1));
    case NicExclusion::kNoGpuDirect:
      return fmt::format("cannot register the memory of {} (neither nvidia-peermem nor dma-buf)", toString(memory));
  }
  return "";
}

std::string placeText(const RankedNic& ranked, const MemoryLocation& memory, bool count_bridges) {
  const std::string name = toString(memory);
  switch (ranked.proximity) {
    case Proximity::kSamePcieSwitch:
      if (!count_bridges) return "same PCIe switch as " + name;
      return fmt::format("same PCIe switch as {} ({} bridges shared)", name, ranked.shared_bridges);
    case Proximity::kSameNuma: return "same NUMA node as " + name;
    case Proximity::kOther: return "another NUMA node than " + name;
    case Proximity::kUnknown: break;
  }
  if (!ranked.nic->numa_node) return "NUMA node unknown";
  const bool nowhere = memory.kind == MemoryKind::kCpu && memory.ordinal < 0;
  return nowhere ? name + " is on no particular NUMA node" : "NUMA node of " + name + " unknown";
}

std::string speedText(double gbps) {
  return gbps > 0 ? fmt::format("{:g} Gb/s", gbps) : "speed unknown";
}

// Whether how many bridges are shared has placed one NIC before another.
bool bridgesDecide(const std::vector<RankedNic>& nics) {
  const RankedNic& first = nics.front();
  return std::any_of(nics.begin(), nics.end(), [&first](const RankedNic& ranked) {
    return ranked.usable() && ranked.proximity == Proximity::kSamePcieSwitch &&
           ranked.shared_bridges != first.shared_bridges;
  });
}

std::vector<NicVerdict> verdictsOf(const std::vector<RankedNic>& nics, const MemoryLocation& memory,
                                   const NicQuery& query, std::string_view rail) {
  std::vector<NicVerdict> verdicts;
  for (const RankedNic& ranked : nics) {
    NicVerdict verdict{ranked.nic->name, ranked.proximity, ranked.usable(), ""};
    if (ranked.usable()) {
      verdict.why = placeText(ranked, memory, bridgesDecide(nics)) + ", " + speedText(ranked.nic->speed_gbps);
      if (verdict.name == rail) verdict.why += ", same name as the local NIC";
    } else {
      verdict.why = "excluded: " + whyExcluded(ranked, memory, query);
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

std::string endText(const NicEnd& end) {
  if (end.gid == nullptr) return end.nic->name + " (InfiniBand, no GID listed)";
  return fmt::format("{} gid {} ({})", end.nic->name, end.gid->index, gidText(*end.gid));
}

// What a NIC can be reached by.
void addOffers(const Nic& nic, std::vector<std::string_view>& offers) {
  if (nic.link_layer == LinkLayer::kInfiniband) return addOnce(offers, "InfiniBand");
  for (AddressFamily family : {AddressFamily::kIpv4, AddressFamily::kIpv6}) {
    const bool has = std::any_of(nic.gids.begin(), nic.gids.end(), [family](const Gid& gid) {
      return isRoutableRoce(gid) && familyOf(gid.address) == family;
    });
    if (has) addOnce(offers, describe(family));
  }
}

std::string offersText(const Nic& nic) {
  std::vector<std::string_view> offers;
  addOffers(nic, offers);
  return fmt::format("{}", fmt::join(offers, " and "));
}

std::string offersText(const std::vector<RankedNic>& nics) {
  std::vector<std::string_view> offers;
  for (const RankedNic& ranked : nics) {
    if (ranked.usable()) addOffers(*ranked.nic, offers);
  }
  return fmt::format("{}", fmt::join(offers, " and "));
}

std::string reasonOfGids(const NicChoice& choice, const NicQuery& query) {
  if (query.gid_index && choice.local.gid != nullptr) {
    std::string text = fmt::format("gid_index {} asks for it", *query.gid_index);
    std::vector<std::string_view> shortcomings;
    if (choice.local.nic->link_layer == LinkLayer::kEthernet) addShortcomings(*choice.local.gid, shortcomings);
    if (!shortcomings.empty()) text += fmt::format(", but {} crosses no router", fmt::join(shortcomings, " "));
    return text;
  }
  if (choice.local.nic->link_layer == LinkLayer::kInfiniband) return "both InfiniBand";
  const bool ipv4 = familyOf(choice.local.gid->address) == AddressFamily::kIpv4;
  return ipv4 ? "both IPv4" : "both IPv6, as not both have an IPv4 address";
}

std::string whyPassedOver(const NicSearch& search, const NicQuery& query) {
  const std::string pair = fmt::format("{} <-> {}", search.passed_local->name, search.passed_remote->name);
  if (query.gid_index) return fmt::format("{} passed over: nothing there answers that GID", pair);
  return fmt::format("{} passed over: {} here, {} there", pair, offersText(*search.passed_local),
                     offersText(*search.passed_remote));
}

std::string pairText(const NicSearch& search, const NicQuery& query) {
  const NicChoice& choice = search.result.choice;
  const int local_mtu = choice.local.nic->mtu_bytes;
  const int remote_mtu = choice.remote.nic->mtu_bytes;
  std::string text =
      fmt::format("{} <-> {}, path MTU {}", endText(choice.local), endText(choice.remote), choice.path_mtu_bytes);
  if (local_mtu != remote_mtu) text += fmt::format(" (of {} here and {} there)", local_mtu, remote_mtu);
  text += ": " + reasonOfGids(choice, query);
  if (search.passed_local != nullptr) text += "; " + whyPassedOver(search, query);
  return text;
}

std::string noCommonAddressText(const NicSearch& search, const NicQuery& query) {
  const Nic& local = *search.local.front().nic;
  if (query.gid_index && local.link_layer == LinkLayer::kEthernet) {
    return fmt::format(
        "no RDMA device of the peer has a GID of the type and address family of {}, which gid_index asks for",
        endText({&local, gidAt(local, *query.gid_index)}));
  }
  return fmt::format("this host offers {}, the peer {}; both ends must share link layer and address family",
                     offersText(search.local), offersText(search.remote));
}

std::string noPairText(const NicSearch& search, const NicQuery& query) {
  switch (search.result.failure) {
    case NicFailure::kNone: return "";
    case NicFailure::kNoLocalNic: return "this host has no RDMA device";
    case NicFailure::kDeviceMissing:
      return "the policy names the device " + search.result.subject + ", which this host lacks";
    case NicFailure::kNoUsableLocal: return "no RDMA device of this host can be used";
    case NicFailure::kNoRemoteNic: return "the peer has no RDMA device";
    case NicFailure::kNoUsableRemote: return "no RDMA device of the peer can be used";
    case NicFailure::kNoCommonAddress: return noCommonAddressText(search, query);
    case NicFailure::kNoGpuDirect:
      return "no RDMA device that may be used can register the memory of " + search.result.subject;
  }
  return "";
}

}  // namespace

NicTrace traceOf(const NicQuery& query, const NicSearch& search) {
  const bool found = search.result.failure == NicFailure::kNone;
  const std::string_view rail = found ? std::string_view(search.result.choice.local.nic->name) : "";
  NicTrace trace;
  trace.local = verdictsOf(search.local, query.local_memory, query, "");
  trace.remote = verdictsOf(search.remote, query.remote_memory, query, rail);
  trace.pair = found ? pairText(search, query) : "no pair: " + noPairText(search, query);
  return trace;
}

}  // namespace tent
