// The memory that an engine lends to its peers for transfers that go through staging buffers.
//
// Invariants
//  1. At no time is more lent than `pool_bytes`; a lease counts until no peer reaches its memory any more.
//  2. Requests are served in the order they came; nobody overtakes. While several peers want buffers or have some, each
//     gets its share of the pool at most, and half of it at most while there is one: so a second one never waits for
//     the first, and no peer keeps another from its turn.
//  3. When the pool is used up and somebody waits, the holder that has had its lease longest is asked to give it back
//     (wantedBack), and loses it when it has not done so after a while.
//  4. The memory of a lease is new, and freed when the lease ends: what its holder may still write, however late, never
//     reaches another's transfer, and nobody reads what another has left there.
//
// Thread safety: none, the control loop's thread only; constructed and destroyed while that does not run, or from it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "engine/local_memory.h"
#include "engine/staging_messages.h"
#include "transport/loop.h"

namespace tent {

struct StagingLimits {
  uint64_t pool_bytes = 32u << 20;
  StagingTimes times;
};

class StagingPool {
 public:
  struct Lease {
    LentBuffers lent;
    uint64_t since_ns = 0;
    uint64_t heard_ns = 0;  // of its holder, last
    uint64_t asked_ns = 0;  // when it was asked to give it back; 0 not yet
    bool ended = false;
  };
  // A request for buffers. Its owner withdraws it before it goes away.
  struct Request {
    StageOpen wanted;
    std::function<void()> answered;
    std::shared_ptr<Lease> lease;  // once granted
    Error refused;                 // or this
  };

  StagingPool(Loop& control_loop, LocalMemory& memory, const StagingLimits& limits)
      : loop_(control_loop), memory_(memory), limits_(limits) {}
  ~StagingPool();
  StagingPool(const StagingPool&) = delete;
  StagingPool& operator=(const StagingPool&) = delete;

  const StagingLimits& limits() const { return limits_; }
  LocalMemory& memory() { return memory_; }
  Loop& loop() { return loop_; }

  // Takes the request into the queue, or refuses it at once: resource_exhausted, when the pool is smaller than a chunk.
  void ask(Request& request);
  void withdraw(Request& request);
  // The error of a request that has waited for so long as limits() say.
  Error waitedTooLong() const;
  // Grants what there is room for, and ends leases that were not given back. To be called again from time to time while
  // a request waits.
  void serve(uint64_t now_ns);

  // Whether others wait for what this lease holds.
  bool wantedBack(Lease& lease, uint64_t now_ns);
  // Takes its memory back; it is freed in the background.
  void end(Lease& lease);

 private:
  uint64_t shareOf(const StageOpen& wanted) const;
  bool grant(Request& request, uint64_t now_ns);
  Error lend(Request& request, uint64_t count, uint64_t now_ns);
  void nobodyWaits();
  void freed(uint64_t bytes);

  Loop& loop_;
  LocalMemory& memory_;
  const StagingLimits limits_;
  uint64_t lent_bytes_ = 0;
  uint64_t last_lease_ = 0;
  std::deque<Request*> waiting_;
  std::deque<std::shared_ptr<Lease>> leases_;  // the oldest first
  // Where memory is freed: that may take as long as a peer stands still.
  std::unique_ptr<Loop> freeing_;
};

}  // namespace tent
