// The engine's insides, in one place because their lifetimes hang together: made from top to bottom, ended from bottom
// to top.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/address.h"
#include "engine/admission.h"
#include "engine/batch.h"
#include "engine/control_server.h"
#include "engine/engine.h"
#include "engine/lane.h"
#include "engine/local_memory.h"
#include "engine/peer.h"
#include "engine/rules.h"
#include "engine/staging_pool.h"

namespace tent {

class StagedTransfers;

// The next segment or batch of this process: that of another engine, or one of long ago, is never taken for it.
uint64_t nextHandle();

inline Error badBatch(BatchId batch) {
  return {Reason::kBadBatch, Field::kBatch, -1, batch, {}};
}

class Engine::Impl final : public LaneHost, public AdmissionHost {
 public:
  Impl(EngineConfig config, EngineOptions options);
  ~Impl() override;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  // The fallible part of making one.
  Error start();

  const EngineConfig& config() const { return config_; }
  const std::string& address() const { return address_; }
  const std::string& segmentName() const { return segment_name_; }
  LocalMemory& memory() { return *memory_; }
  void endTransfers();
  // Whether a task in flight has its local side in the range.
  bool usesInFlight(uint64_t base, uint64_t length) const;

  // ---- segments (engine_segments.cc)
  tl::expected<SegmentId, Error> openSegment(const std::string& name);
  Error closeSegment(SegmentId segment);
  tl::expected<SegmentInfo, Error> segmentInfo(SegmentId segment);
  tl::expected<Environment, Error> environmentFor(SegmentId segment, Registration registration);
  tl::expected<std::vector<uint64_t>, Error> checksums(SegmentId segment, std::span<const Range> ranges);

  // ---- rules (engine_rules.cc)
  std::vector<std::string> reloadPolicy(EngineConfig config);

  // ---- submit (engine_submit.cc)
  tl::expected<void, SubmitFailure> submit(BatchId batch, std::span<const Request> requests, ValidationMode mode,
                                           const Notification* notification);
  Error checkRoom(BatchId batch, size_t count) const;
  Explanation explain(const Request& request, ValidationMode mode, uint64_t now_ns);
  Explanation explainAgainst(const Environment& environment, const Request& request, ValidationMode mode,
                             uint64_t now_ns);

  // ---- notifications (engine_notify.cc)
  Error sendNotification(SegmentId segment, const Notification& notification);
  std::vector<Notification> receiveNotifications();

  // ---- batches and tasks (engine_tasks.cc)
  tl::expected<BatchId, Error> allocateBatch(size_t capacity);
  Error freeBatch(BatchId batch);
  tl::expected<size_t, Error> taskCount(BatchId batch) const;
  tl::expected<TaskStatus, Error> taskStatus(BatchId batch, size_t task) const;
  tl::expected<TaskReport, Error> taskReport(BatchId batch, size_t task) const;
  tl::expected<TaskStatus, Error> batchStatus(BatchId batch) const;
  tl::expected<bool, Error> wait(BatchId batch, std::optional<uint64_t> timeout_ns);
  tl::expected<int, Error> batchFd(BatchId batch);
  Error cancel(BatchId batch, size_t task);
  EngineMetrics metrics() const;

  void openLink(const std::shared_ptr<Lane>& lane) noexcept override;
  void attemptEnded(Task& task, const Completion& completion) noexcept override;
  uint64_t nextDispatchOrder() noexcept override { return dispatched_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void admitted(std::span<Task* const> tasks) noexcept override;

 private:
  struct Server {
    Transport transport;
    std::unique_ptr<Backend> backend;
  };
  struct Segment {
    std::shared_ptr<Peer> peer;
    uint32_t opened = 0;  // times
  };
  struct PerTransport {
    std::atomic<uint64_t> succeeded{0};
    std::atomic<uint64_t> failed{0};
    std::atomic<uint64_t> pauses{0};
  };

  std::shared_ptr<const Rules> rules() const;
  Error startBackends(const std::string& bind_address);
  ControlHandlers controlHandlers();
  PeerDescription describe();

  Backend* backendOf(Transport transport) const;
  std::shared_ptr<Peer> findPeer(SegmentId segment) const;
  tl::expected<std::shared_ptr<Peer>, Error> peerOf(SegmentId segment);
  tl::expected<std::shared_ptr<Peer>, Error> selfPeer();
  // Blocks while a name is looked up.
  tl::expected<std::shared_ptr<Peer>, Error> makePeer(const std::string& name, const HostPort& where);
  tl::expected<std::shared_ptr<const PeerView>, Error> refresh(Peer& peer);
  tl::expected<Message, Error> ask(Peer& peer, const Message& request);
  Environment environmentOf(const PeerDescription& description) const;
  void takePauses(Peer& peer, PeerView& view) const;
  std::shared_ptr<const PeerView> viewWithPauses(Peer& peer) const;
  Error openLinkNow(Peer& peer, Transport transport);
  Error judgeSharedMemory(Peer& peer, PeerView& view);
  void retire(std::shared_ptr<Peer> peer);

  Error takeNotification(std::string_view from, Notification notification);
  // Sends it, and lets go of the batch once it has been received or cannot be.
  void notify(const std::shared_ptr<Notice>& notice);

  struct Submission;
  // All checks of a request up to the plan.
  Error authorize(const Request& request, Submission& submission);
  Error prepare(const Request& request, Submission& submission, Task& task);
  Error locate(const Request& request, Submission& submission);
  Error route(Submission& submission, Task& task);
  void takeTurn(const Submission& submission, Task& task) const;
  SubmitFailure refuse(std::span<Task> tasks, SubmitFailure failure);
  static std::shared_ptr<Notice> attachNotice(const std::shared_ptr<Batch>& batch, std::span<Task> tasks,
                                              const Notification& notification);
  Error planRoute(const Submission& submission, Route& route);
  void dispatch(std::span<Task> tasks);
  // Hands one task over to a transport of its route.
  void handOver(Task& task, Transport transport);
  void countDowngrades(const Downgrades& downgrades);

  // ---- staging buffers (engine_staging.cc)
  StagingLimits stagingLimits() const;
  // Before a route of which something is staged is used.
  Error readyToStage(const TransferShape& shape);
  StagedTransfers* staged() const;  // nullptr: nothing was staged yet
  void endStaging(const Error& why);

  std::shared_ptr<Batch> findBatch(BatchId batch) const;
  void endTask(Task& task, TaskState state);
  void countAttempt(Task& task, const Completion& completion);
  Transport nextTransport(const Task& task) const;

  const EngineConfig config_;
  const EngineOptions options_;
  const PolicyName tenant_;
  mutable std::mutex rules_mutex_;
  std::shared_ptr<const Rules> rules_;
  std::shared_ptr<TenantAdmission> admission_;
  Environment environment_;  // this machine; the peer's part is filled in for each peer
  std::string boot_id_;
  uint64_t instance_ = 0;

  std::unique_ptr<Loop> control_loop_;
  std::unique_ptr<Loop> data_loop_;
  std::vector<Server> servers_;
  std::unique_ptr<LocalMemory> memory_;
  std::unique_ptr<StagingPool> lent_;  // to peers
  std::unique_ptr<ControlServer> control_;
  std::shared_ptr<const ControlSecurity> security_;
  std::string address_;
  std::string segment_name_;

  mutable std::mutex staging_mutex_;
  std::unique_ptr<StagedTransfers> staged_;  // made when the first plan stages
  Error staging_ended_;

  mutable std::shared_mutex segments_mutex_;
  std::unordered_map<SegmentId, Segment> segments_;
  std::map<std::string, SegmentId> segment_ids_;
  std::vector<std::shared_ptr<Peer>> retired_peers_;  // closed, perhaps still with tasks
  std::mutex self_mutex_;
  std::shared_ptr<Peer> self_;

  mutable std::shared_mutex batches_mutex_;
  std::unordered_map<BatchId, std::shared_ptr<Batch>> batches_;

  std::mutex notifications_mutex_;
  std::vector<Notification> notifications_;  // that have arrived

  std::atomic<uint64_t> dispatched_{0};
  std::atomic<uint64_t> accepted_{0};
  std::atomic<uint64_t> rejected_{0};
  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> canceled_{0};
  std::atomic<uint64_t> expired_on_submit_{0};
  std::atomic<uint64_t> deadlines_met_{0};
  std::atomic<uint64_t> deadlines_missed_{0};
  std::atomic<uint64_t> queued_{0};
  std::array<PerTransport, kTransportCount> per_transport_;
  std::array<std::array<std::atomic<uint64_t>, kDowngradeReasonCount>, kFieldCount> downgrades_{};
};

}  // namespace tent
