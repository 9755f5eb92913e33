// What StagedTransfers knows of its peers, of the attempts that go through staging buffers, and of their chunks. Values
// of the staging loop's thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/batch.h"
#include "engine/staging_channel.h"
#include "engine/staging_copy.h"
#include "transport/shared_memory.h"

namespace tent {

struct StagedPeer;

// One attempt to carry a task.
struct StagedFlow {
  Task* task = nullptr;
  Transport transport = Transport::kUnspec;
  StagedPeer* peer = nullptr;
  uint64_t begun_bytes = 0;    // of which a chunk has begun
  uint64_t arrived_bytes = 0;  // at the destination
  uint32_t under_way = 0;      // chunks
  bool attempt_begun = false;
  bool touched = false;    // the destination
  bool unsettled = false;  // it may be written later
  Error failure;

  bool write() const { return task->transfer.direction == Direction::kWrite; }
  bool allBegun() const { return begun_bytes == task->transfer.length; }
};

// One peer with its lease, and the attempts that go there.
struct StagedPeer {
  const Peer* key = nullptr;
  std::shared_ptr<StagingChannel> channel;
  std::vector<std::unique_ptr<StagedFlow>> flows;
  std::array<std::deque<StagedFlow*>, 3> waiting;  // by priority, with bytes of which no chunk has begun
  uint32_t under_way = 0;                          // chunks
  uint64_t idle_since_ns = 0;                      // 0: it is not

  StagedFlow* firstWaiting() const;
  // After a chunk of the first one has begun: the next one's turn.
  void nextTurn(StagedFlow& flow);
  void dropWaiting(StagedFlow& flow);
};

// One buffer here, and the chunk that is in it.
struct StagedChunk {
  enum class Hop : uint8_t { kHere, kOver, kThere };

  Task task;  // what its lane is given
  std::unique_ptr<SharedMemory> memory;

  StagedFlow* flow = nullptr;  // nullptr: it is free
  std::shared_ptr<const LentBuffers> lent;
  uint64_t lent_offset = 0;  // of its buffer there
  uint64_t offset = 0;       // in the transfer
  uint64_t length = 0;
  uint32_t hops_done = 0;
  bool with_lane = false;
  StagingCopy copy;

  // The one to make next; nothing when all three are made.
  std::optional<Hop> nextHop() const;
};

}  // namespace tent
