#include "engine/staged_chunk.h"

#include <algorithm>

namespace tent {

StagedFlow* StagedPeer::firstWaiting() const {
  for (const auto& queue : waiting) {
    if (!queue.empty()) return queue.front();
  }
  return nullptr;
}

void StagedPeer::nextTurn(StagedFlow& flow) {
  dropWaiting(flow);
  if (!flow.allBegun()) waiting[static_cast<size_t>(flow.task->priority)].push_back(&flow);
}

void StagedPeer::dropWaiting(StagedFlow& flow) {
  std::erase(waiting[static_cast<size_t>(flow.task->priority)], &flow);
}

std::optional<StagedChunk::Hop> StagedChunk::nextHop() const {
  constexpr std::array kWrite{Hop::kHere, Hop::kOver, Hop::kThere};
  constexpr std::array kRead{Hop::kThere, Hop::kOver, Hop::kHere};
  if (hops_done == kWrite.size()) return std::nullopt;
  return (flow->write() ? kWrite : kRead)[hops_done];
}

}  // namespace tent
