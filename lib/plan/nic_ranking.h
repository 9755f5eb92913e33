// How the NICs of one host are judged and ordered for a transfer, and over which GIDs two of them can talk: the parts
// of plan/nic_choice.h that the choice and its explanation share. Private to lib/plan.
//
// Thread safety: pure functions; the results point into the inventories they were made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "plan/nic_choice.h"

namespace tent {

// Why a NIC cannot serve; the first that applies, in this order.
enum class NicExclusion : uint8_t {
  kNone,
  kNotInPolicy,
  kNotInWhitelist,
  kInBlacklist,
  kNotActive,
  kNoGid,          // its table is empty
  kNoRoutableGid,  // only link-local and RoCE v1 ones
  kNoSuchGid,      // none at gid_index
  kNoGpuDirect,    // last, so that it stands alone only where staging through host memory would help
};

struct RankedNic {
  const Nic* nic = nullptr;
  Proximity proximity = Proximity::kUnknown;
  int shared_bridges = 0;  // PCI bridges that lead to both the NIC and the memory
  NicExclusion exclusion = NicExclusion::kNone;

  bool usable() const { return exclusion == NicExclusion::kNone; }
};

// Judges each NIC of a host, in the order of the inventory. The policy's devices, the white and the black list speak of
// local NICs; an explicit gid_index is the local end's too, and lifts the demand for a routable GID at both.
std::vector<RankedNic> judgeLocalNics(const HostInventory& host, const NicQuery& query);
std::vector<RankedNic> judgeRemoteNics(const HostInventory& host, const NicQuery& query);

// 0 nearest; what is not known counts as far, and not as farther than that.
int tierOf(Proximity proximity);

// Sorts by preference, the excluded ones last by name. `rail`: the name of the NIC at the other end, "" none.
void rank(std::vector<RankedNic>& nics, std::string_view rail);

// "mlx5_2" before "mlx5_10"; total.
bool nameBefore(std::string_view a, std::string_view b);

// The GID at a position of the port's table; nullptr when it is not in use.
const Gid* gidAt(const Nic& nic, int index);

struct GidPair {
  const Gid* local = nullptr;  // nullptr at an end: an InfiniBand port without a listed GID
  const Gid* remote = nullptr;
};

// The GIDs over which two usable NICs can talk; nothing when they share no link layer or no address family. With a
// `gid_index` the local end is that one, and the remote the best of the same type and address family.
std::optional<GidPair> commonGids(const Nic& local, const Nic& remote, std::optional<int> gid_index);

}  // namespace tent
