// One wave of what goes to one peer, from its source memory to its outcomes. Thread safety: none.
//
//     place   each transfer gets its piece of source memory
//     fill    with bytes that are not at the destination yet, so that what stayed there cannot pass for what arrived
//     submit  to the engine of each tenant, in the order of priority
//     await   until all have ended, the time is over, or the process is interrupted
//     verify  what arrived, by the checksums of both sides
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tent-submit/job.h"
#include "tent-submit/wave.h"

namespace tent::tool {

// The time of a run, counted from when its first byte may move. Thread safety: all members from any thread.
class RunClock {
 public:
  explicit RunClock(std::optional<uint64_t> timeout_ns) : timeout_ns_(timeout_ns) {}

  // Before each submit; the first starts the clock.
  void begin();
  // CLOCK_MONOTONIC; nothing where there is no limit, or it has not begun.
  std::optional<uint64_t> deadline() const;
  bool over() const;

 private:
  const std::optional<uint64_t> timeout_ns_;
  std::atomic<uint64_t> deadline_ns_{0};  // 0 none
};

struct WaveOptions {
  bool verify = true;
  uint64_t seed = 0;                        // of this run
  Transport required = Transport::kUnspec;  // what another one carries has failed
  RunClock* clock = nullptr;                // outlives the waves
};

class WaveRun {
 public:
  WaveRun(Job& job, const WaveOptions& options, std::vector<Item> items);

  // Carries it out. Afterwards nothing of it is in flight, unless it timed out or was interrupted: then the engines
  // must be ended before their source memory is.
  void run();

  const std::vector<Item>& items() const { return items_; }
  const std::vector<Outcome>& outcomes() const { return outcomes_; }  // of each item
  // What is wrong with the peer, where it is not to be tried again.
  const std::optional<Error>& lostPeer() const { return lost_peer_; }

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
  using BySession = std::map<Session*, std::vector<size_t>>;
  enum class End : uint8_t { kAll, kTimeout, kInterrupted };

  size_t peer() const { return *entryOf(0).peer; }
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
  void noteLostPeer();

  // ---- wave_bytes.cc
  void fill();
  void makeDifferent();
  void verify();
  // Nothing counts as completed of which it is not known: there is no time to ask the peers.
  void leaveUnverified(End end);
  BySession bySession(const std::function<bool(size_t item)>& wanted) const;
  // Of the items' ranges, in their order, as the peer computes them.
  tl::expected<std::vector<uint64_t>, Error> checksumsOf(Session& session, std::span<const size_t> items) const;

  void fail(size_t item, Error error);
  void setOutcome(size_t item, ExecutionStatus status, Error error);

  Job& job_;
  const WaveOptions& options_;
  const std::vector<Item> items_;
  std::vector<Transfer> transfers_;
  std::vector<Outcome> outcomes_;
  std::map<Session*, Part> parts_;
  std::optional<Error> lost_peer_;
};

}  // namespace tent::tool
