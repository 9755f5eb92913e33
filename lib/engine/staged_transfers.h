// This engine's transfers that go through staging buffers. Each is cut into chunks; a chunk takes three hops:
//
//     write:  memory -> buffer here   ->(lane)   buffer there -> memory    (the last one by the peer, when asked)
//     read:   memory -> buffer there  ->(lane)   buffer here  -> memory    (the first one by the peer, when asked)
//
// Invariants
//  1. Every task that was pushed is told to the host once, as one attempt over one transport; its chunks never are.
//  2. It has succeeded when every byte of it was copied into its destination, and each chunk only after its own hops.
//  3. Chunks are begun by the priority of their tasks, those of equal priority by turns, and no peer has more than half
//     of the buffers here: neither a long transfer nor a peer that stands still keeps the others from theirs.
//  4. After a failure, or when it is canceled, no chunk of a task is begun and none goes on to its next hop; the
//  attempt
//     ends once nothing of it is under way. It is unsettled when the peer was asked to copy into the destination and
//     has not answered.
//
// Thread safety: all members may be called from any thread. What happens, happens on a loop of its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <asio/steady_timer.hpp>

#include "engine/control_security.h"
#include "engine/lane.h"
#include "engine/staged_chunk.h"
#include "transport/loop.h"

namespace tent {

struct StagingSetup {
  uint64_t chunk_bytes = 0;
  uint32_t buffers = 0;  // of a chunk, at least 1
  uint64_t control_timeout_ns = 0;
  uint64_t wait_ns = 0;  // that a peer may make this engine wait for buffers
};

class StagedTransfers {
 public:
  // Both outlive it. Throws std::system_error where there is no thread to be had.
  StagedTransfers(LaneHost& host, Loop& control_loop, std::shared_ptr<const ControlSecurity> security,
                  const StagingSetup& setup);
  // Once all tasks have ended, and nothing is told by lanes any more.
  ~StagedTransfers();
  StagedTransfers(const StagedTransfers&) = delete;
  StagedTransfers& operator=(const StagedTransfers&) = delete;

  // An attempt over the transport, which its peer has a lane for.
  void push(Task& task, Transport transport);
  // Some task's cancel_wanted was set.
  void lookForCanceled();
  // The lane is done with a chunk's task.
  void wireEnded(Task& chunk_task, const Completion& completion);
  // The peer, of which no task is in flight, goes away.
  void forget(const Peer& peer);
  // Ends everything; what is pushed later fails at once.
  void shutDown(const Error& why);
  // Until every task that was pushed has been told.
  void waitIdle();

 private:
  void begin(Task& task, Transport transport);
  StagedPeer& peerOf(const Task& task);

  // ---- scheduling
  void pumpSoon();
  void pump();
  bool beginChunk(StagedPeer& peer);
  void askForLease(StagedPeer& peer, const StagedFlow& flow);
  StagedChunk* takeBuffer(Error& error);

  // ---- the hops of a chunk
  void hop(StagedChunk& chunk);
  void copyHere(StagedChunk& chunk);
  void copyThere(StagedChunk& chunk);
  void sendOver(StagedChunk& chunk);
  void hopEnded(StagedChunk& chunk);
  void chunkEnded(StagedChunk& chunk);

  // ---- ends
  void beginAttempt(StagedFlow& flow);
  void fail(StagedFlow& flow, Reason reason, const std::string& detail);
  void failAll(StagedPeer& peer, const Error& why);
  void endIfDone(StagedFlow& flow);
  void told();
  void cleanUpLater();
  void cleanUp();

  LaneHost& host_;
  Loop& control_loop_;
  const std::shared_ptr<const ControlSecurity> security_;
  const StagingSetup setup_;
  Loop loop_;

  // On the loop's thread only.
  std::vector<std::unique_ptr<StagedPeer>> peers_;
  size_t first_ = 0;  // of them, to have the next turn
  std::vector<std::unique_ptr<StagedChunk>> chunks_;
  std::vector<StagedChunk*> free_;  // chunks
  bool pump_posted_ = false;
  Error shut_down_;
  asio::steady_timer clean_up_;
  bool cleans_up_ = false;

  std::mutex mutex_;
  std::condition_variable idle_;
  size_t untold_ = 0;  // tasks that were pushed
};

}  // namespace tent
