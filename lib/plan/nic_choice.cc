#include "plan/nic_choice.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/nic_ranking.h"
#include "plan/nic_sentences.h"

namespace tent {
namespace {

bool anyUsable(const std::vector<RankedNic>& nics) {
  return std::any_of(nics.begin(), nics.end(), [](const RankedNic& ranked) { return ranked.usable(); });
}

bool anyLacksOnlyGpuDirect(const std::vector<RankedNic>& nics) {
  return std::any_of(nics.begin(), nics.end(),
                     [](const RankedNic& ranked) { return ranked.exclusion == NicExclusion::kNoGpuDirect; });
}

const std::string* missingDevice(const HostInventory& host, const NicQuery& query) {
  for (const std::string& device : query.devices) {
    if (host.findNic(device) == nullptr) return &device;
  }
  return nullptr;
}

// What is wrong before pairs are looked at; the local side is named first.
NicResult failureOfSides(const HostInventory& host, const NicQuery& query, const NicSearch& search) {
  NicResult result;
  if (const std::string* device = missingDevice(host, query)) {
    result.failure = NicFailure::kDeviceMissing;
    result.subject = *device;
  } else if (search.local.empty()) {
    result.failure = NicFailure::kNoLocalNic;
  } else if (!anyUsable(search.local)) {
    const bool gpu_direct = anyLacksOnlyGpuDirect(search.local);
    result.failure = gpu_direct ? NicFailure::kNoGpuDirect : NicFailure::kNoUsableLocal;
    if (gpu_direct) result.subject = toString(query.local_memory);
  } else if (search.remote.empty()) {
    result.failure = NicFailure::kNoRemoteNic;
  } else if (!anyUsable(search.remote)) {
    const bool gpu_direct = anyLacksOnlyGpuDirect(search.remote);
    result.failure = gpu_direct ? NicFailure::kNoGpuDirect : NicFailure::kNoUsableRemote;
    if (gpu_direct) result.subject = "the peer's " + toString(query.remote_memory);
  } else {
    result.failure = NicFailure::kNone;
  }
  return result;
}

// The pair that can talk and of which the farther end is nearest; where several are as near, the first in the local
// order, then in the remote.
void findPair(const NicQuery& query, NicSearch& search) {
  const int best_remote_tier = tierOf(search.remote.front().proximity);
  std::optional<std::pair<int, int>> best_distance;
  for (const RankedNic& local : search.local) {
    if (!local.usable()) break;
    rank(search.remote, local.nic->name);
    for (const RankedNic& remote : search.remote) {
      if (!remote.usable()) break;
      const std::optional<GidPair> gids = commonGids(*local.nic, *remote.nic, query.gid_index);
      if (!gids) {
        if (search.passed_local == nullptr) search.passed_local = local.nic;
        if (search.passed_remote == nullptr) search.passed_remote = remote.nic;
        continue;
      }
      const int local_tier = tierOf(local.proximity);
      const int remote_tier = tierOf(remote.proximity);
      const std::pair distance(std::max(local_tier, remote_tier), local_tier + remote_tier);
      if (!best_distance || distance < *best_distance) {
        best_distance = distance;
        search.result.choice = {{local.nic, gids->local},
                                {remote.nic, gids->remote},
                                std::min(local.nic->mtu_bytes, remote.nic->mtu_bytes)};
      }
      break;
    }
    const bool nearest =
        best_distance && best_distance->second == tierOf(search.local.front().proximity) + best_remote_tier;
    if (nearest) break;
  }
  const Nic* chosen = search.result.choice.local.nic;
  if (chosen == nullptr) search.result.failure = NicFailure::kNoCommonAddress;
  rank(search.remote, chosen != nullptr ? chosen->name : search.local.front().nic->name);
}

}  // namespace

NicResult chooseNics(const Environment& environment, const NicQuery& query, NicTrace* trace) {
  NicSearch search;
  search.local = judgeLocalNics(environment.local, query);
  search.remote = judgeRemoteNics(environment.peer, query);
  rank(search.local, "");
  rank(search.remote, "");
  search.result = failureOfSides(environment.local, query, search);
  if (search.result.failure == NicFailure::kNone) findPair(query, search);
  if (trace != nullptr) *trace = traceOf(query, search);
  return std::move(search.result);
}

}  // namespace tent
