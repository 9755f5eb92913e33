// One wave from its source memory to its outcomes. Thread safety: none.
//
//     place   each transfer gets its piece of source memory
//     fill    with bytes that are not at the destination yet, so that what stayed there cannot pass for what arrived
//     submit  to the engine of each tenant, in the order of priority
//     await   until all have ended, the time is over, or the process is interrupted
//     verify  what arrived, by the checksums of both sides
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tent-submit/job.h"
#include "tent-submit/wave.h"

namespace tent::tool {

struct WaveOptions {
  bool verify = true;
  uint64_t seed = 0;                        // of this run
  std::optional<uint64_t> timeout_ns;       // from when the first byte may move; absent: none
  std::optional<uint64_t> deadline_ns;      // CLOCK_MONOTONIC; set by begin()
  Transport required = Transport::kUnspec;  // what another one carries has failed

  // Before each submit; the first starts the clock.
  void begin();
};

class WaveRun {
 public:
  WaveRun(Job& job, WaveOptions& options, std::vector<Item> items);

  // Carries it out. Afterwards nothing of it is in flight, unless it timed out or was interrupted: then the engines
  // must be ended before their source memory is.
  void run();

  const std::vector<Item>& items() const { return items_; }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }  // of each item
  // What is wrong with peers that are not to be tried again, by their numbers.
  const std::map<size_t, Error>& lostPeers() const { return lost_peers_; }

 private:
  struct Transfer {
    std::span<std::byte> memory;  // of this process
    uint64_t sent = 0;            // checksum of what a write sends
    bool failed = false;          // the outcome stands already
  };
  // The transfers of one tenant.
  struct Part {
    std::vector<size_t> items;
    std::optional<BatchId> batch;
    std::vector<size_t> tasks;  // the item of each of the batch's tasks
  };
  using Target = std::pair<Session*, size_t>;  // and the number of the peer
  using ByTarget = std::map<Target, std::vector<size_t>>;
  enum class End : uint8_t { kAll, kTimeout, kInterrupted };

  Entry& entryOf(size_t item) const { return job_.entries[items_[item].entry]; }
  bool writes(size_t item) const { return entryOf(item).vector.fields.opcode == static_cast<int32_t>(Opcode::kWrite); }

  void place();
  void submit(Session& session, Part& part);
  void submitAlike(Session& session, Part& part, std::span<const size_t> items);
  Request requestOf(Session& session, size_t item);
  End await();
  End awaitPart(Session& session, const Part& part) const;
  void cancel();
  void collect(Session& session, const Part& part, End end);
  void judge(size_t item, End end);
  void noteLostPeers();

  // ---- wave_bytes.cc
  void fill();
  void makeDifferent();
  void verify();
  // Nothing counts as completed of which it is not known: there is no time to ask the peers.
  void leaveUnverified(End end);
  ByTarget byTarget(const std::function<bool(size_t item)>& wanted) const;
  // Of the items' ranges, in their order, as the peer computes them.
  tl::expected<std::vector<uint64_t>, Error> checksumsOf(const Target& target, std::span<const size_t> items) const;

  void fail(size_t item, Error error);
  void setOutcome(size_t item, ExecutionStatus status, Error error);

  Job& job_;
  WaveOptions& options_;
  const std::vector<Item> items_;
  std::vector<Transfer> transfers_;
  std::vector<Outcome> outcomes_;
  std::map<Session*, Part> parts_;
  std::map<size_t, Error> lost_peers_;
};

}  // namespace tent::tool
