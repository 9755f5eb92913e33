// The way to one peer over one transport: the tasks that wait for it, by priority, and the link they are handed to,
// opened when it is first needed and again after it has ended.
//
// A link is kept as full as its backend has use for, and no fuller: what waits here can still be overtaken by what is
// more urgent.
//
// Thread safety: all members may be called from any thread; none calls its host with a lock held.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/batch.h"
#include "transport/backend.h"

namespace tent {

// What a lane needs of the engine.
class LaneHost {
 public:
  virtual ~LaneHost() = default;
  // Opens a link and hands it to attach, or calls openFailed; at once or later, from any thread.
  virtual void openLink(const std::shared_ptr<Lane>& lane) noexcept = 0;
  // An attempt has ended, in success or failure. The lane does not touch the task any more.
  virtual void attemptEnded(Task& task, const Completion& completion) noexcept = 0;
  virtual uint64_t nextDispatchOrder() noexcept = 0;
};

class Lane final : public LinkObserver, public std::enable_shared_from_this<Lane> {
 public:
  Lane(Transport transport, const Capabilities& capabilities, Peer& peer, LaneHost& host)
      : transport_(transport), capabilities_(capabilities), peer_(peer), host_(host) {}

  Transport transport() const { return transport_; }
  Peer& peer() const { return peer_; }  // which owns the lane

  // Takes tasks, in this order within a priority, and dispatches what there is room for.
  void push(std::span<Task* const> tasks);
  // Takes a task back that nothing was done for yet: true, and it has been reported as canceled.
  bool cancel(Task& task);

  void attach(std::unique_ptr<Link> link);
  void openFailed(const Error& why);
  // Ends the link and everything that waits; later tasks fail at once.
  void shutDown(const Error& why);

  // Copies for as long as there is something to copy here; false when there is nothing.
  bool progress();
  // The present link; nullptr when there is none.
  std::shared_ptr<Link> link();

  void completed(Completion completion) noexcept override;
  void closed(const Error& why) noexcept override;

 private:
  static constexpr size_t kPriorities = 3;
  static constexpr size_t kBurst = 64;  // transfers handed over at once

  struct Queue {
    Task* first = nullptr;
    Task* last = nullptr;
  };

  bool roomLeft() const;
  bool somethingWaits() const;
  Task* takeFirst();
  bool takeOut(Task& task);
  void takeAll(std::vector<Task*>& out);
  void pump();
  void failWaiting(const Error& why);
  void beginAttempt(Task& task) const;
  void report(Task& task, Reason reason, const std::string& detail);

  const Transport transport_;
  const Capabilities capabilities_;
  Peer& peer_;
  LaneHost& host_;

  std::mutex mutex_;
  std::array<Queue, kPriorities> waiting_{};
  uint32_t outstanding_transfers_ = 0;
  uint64_t outstanding_bytes_ = 0;
  bool pumping_ = false;  // a thread is in pump: it will see what others add
  bool opening_ = false;
  bool shut_down_ = false;
  Error shut_down_why_;
  std::shared_ptr<Link> link_;
  std::optional<Error> ended_early_;  // the link that is being opened has ended before attach
  // Links that have ended: they may be in the middle of telling so, and are destroyed later.
  std::vector<std::shared_ptr<Link>> ended_links_;
};

}  // namespace tent
