// The transfers of one link: checked, copied, reported. What Link promises (transport/backend.h) is kept here.
//
// The way of a transfer: submit copies it at once when its region is known and the submit's share of inline bytes
// lasts. Otherwise it becomes a job, which waits for the link, then for its region, then in the queue, of which pieces
// are taken by the copy threads and by progress().
//
// Invariants
//  1. pending_ counts the transfers that were taken and whose report has not returned; the end of the link is told when
//     it has ended and that count is 0, after them all.
//  2. copying_ counts the copies that are going on; close waits for it, and no lock is held meanwhile.
//  3. A job is in exactly one place: not routed, waiting at a grant, in the queue, or only with those that copy its
//  last
//     pieces. Whoever takes it out of the last of them reports it.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "transport/backend.h"
#include "transport/loop.h"
#include "transport/shm/copy_pool.h"
#include "transport/shm/grants.h"
#include "transport/shm/peer_process.h"
#include "transport/shm/session.h"

namespace tent::shm {

// What the links of a backend share.
struct LinkShared {
  Loop& loop;
  uint64_t inline_bytes;
  CopyPool pool;
  std::atomic<uint64_t> read_bytes{0};
  std::atomic<uint64_t> written_bytes{0};

  void count(Direction direction, uint64_t bytes) {
    (direction == Direction::kRead ? read_bytes : written_bytes).fetch_add(bytes, std::memory_order_relaxed);
  }
};

// A transfer that was not copied at once.
struct Job {
  Transfer transfer;
  std::shared_ptr<Grant> grant;
  bool queued = false;
  uint64_t begun = 0;   // bytes of which the copy has begun
  uint32_t copies = 0;  // that are going on
  Error error;          // the first
};

class LinkState : public CopyWork, public SessionOwner, public std::enable_shared_from_this<LinkState> {
 public:
  LinkState(std::shared_ptr<LinkShared> shared, std::shared_ptr<LinkObserver> observer);

  void start(std::shared_ptr<Session> session);

  // As in Link.
  void submit(std::span<const Transfer> transfers);
  bool cancel(uint64_t token);
  bool ended() const;
  bool progress();
  Error waitReady(uint64_t timeout_ns);
  Error reaches(const RemoteRegion& region) const;
  void close(const Error& why);

 private:
  struct Piece {
    std::shared_ptr<Job> job;
    uint64_t offset;
    uint64_t length;
  };
  using Jobs = std::vector<std::shared_ptr<Job>>;

  // CopyWork, SessionOwner.
  void copyPiece() override;
  void ready(std::shared_ptr<const PeerProcess> peer) override;
  void fetched(const Frame& frame, Fd passed, bool passed_lost) override;
  void revoked(uint64_t id) override;
  void failed(const Error& why) override { end(why); }

  // False when it cannot be copied yet; otherwise it was, or has failed, and was reported.
  bool copyInline(const Transfer& transfer);
  Error copy(const Grant& grant, const Transfer& transfer, uint64_t offset, uint64_t length);
  void run(const Piece& piece);
  void end(const Error& why);

  // With the lock held.
  Error checkLocked(const Grant& grant, const Transfer& transfer) const;
  void routeLocked(std::shared_ptr<Job> job, Jobs& failed);
  void queueLocked(std::shared_ptr<Job> job, Jobs& failed);
  std::optional<Piece> takePieceLocked();
  void endCopyLocked(Grant& grant);
  void dropLocked(const Grant& grant, const Error& why, Jobs& failed);
  void takeOutLocked(Job& job);
  void offerLocked();

  // Without the lock.
  void report(const Transfer& transfer, const Error& error, Aftermath aftermath);
  void reportFailed(const Jobs& jobs);
  void reported(uint64_t count);

  const std::shared_ptr<LinkShared> shared_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<LinkObserver> observer_;   // until the end was told
  std::weak_ptr<LinkObserver> late_;         // for what is submitted after that
  std::shared_ptr<Session> session_;         // until the end
  std::shared_ptr<const PeerProcess> peer_;  // while the link is ready
  bool ended_ = false;
  bool end_told_ = false;
  Error why_;  // of the end
  uint64_t pending_ = 0;
  uint32_t copying_ = 0;
  bool offered_ = false;  // to the pool
  Grants grants_;
  std::deque<std::shared_ptr<Job>> unrouted_;
  std::deque<std::shared_ptr<Job>> queue_;
};

}  // namespace tent::shm
