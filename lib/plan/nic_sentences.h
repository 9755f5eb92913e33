// What the choice of NICs says to people. Private to lib/plan.
#pragma once

#include <vector>

#include "plan/nic_choice.h"
#include "plan/nic_ranking.h"

namespace tent {

// A choice with what it was made from.
struct NicSearch {
  std::vector<RankedNic> local;  // ranked
  std::vector<RankedNic> remote;
  NicResult result;
  // The most preferred pair, where it was passed over because it cannot talk.
  const Nic* passed_local = nullptr;
  const Nic* passed_remote = nullptr;
};

NicTrace traceOf(const NicQuery& query, const NicSearch& search);

}  // namespace tent
