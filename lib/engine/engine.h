// The engine: memory that peers may reach, segments of peers, and batches of transfers between them, each carried as
// its plan says (RFC "Runtime behavior").
//
// An engine listens on one address for the metadata of peers (`p2p`: the name of its segment is "host:port"); each of
// its transports serves the bytes. It decides about requests with plan/planner.h and policy/resolve.h and with nothing
// else: what `tent-explain` prints for this machine is what happens here.
//
// Invariants
//  1. A submit is all or nothing: every request is checked before the first is dispatched.
//  2. Requests wait for their transport in the order of their effective priority, then of their arrival; before that,
//     where their contract limits what is in flight, for their turn (engine/admission.h).
//  3. A task is completed only when its bytes are at their destination; every other end has a reason.
//  4. A failed attempt is repeated over the plan's next transport only when nothing more can come of it
//     (Aftermath), at most max_failover_attempts times; each attempt is recorded. A transport that keeps failing with a
//     peer is paused (engine/transport_health.h), which plans then show as unhealthy; where nothing else is left, what
//     is paused is tried all the same.
//  5. After a task has ended the engine does not touch its source memory any more.
//
// Where a plan stages, bytes go through buffers of both engines (engine/staged_transfers.h, engine/staging_pool.h).
//
// Permissions are enforced by the target: tcp checks every range, and so does its copy out of or into staging buffers;
// memory that an engine allocated is mapped by shm only as far as its permission goes. Where shm copies the
// application's own memory across processes, the initiator's library checks, since the kernel asks only for the same
// user (transport/shm/shm_backend.h).
//
// Threads: "tent-control" and "tent-data", and the copy threads of shm; once something is staged, "tent-staging" at its
// initiator and "tent-freeing" at its target. All sleep when there is nothing to do.
// Thread safety: all members may be called from any thread; the destructor alone, once the other calls have returned.
// It ends what is in flight. After fork() the child must not use the parent's engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "base/error.h"
#include "config/engine_config.h"
#include "engine/task.h"
#include "intent/downgrade.h"
#include "intent/request.h"
#include "inventory/environment.h"
#include "plan/planner.h"
#include "transport/backend.h"

namespace tent {

class Loop;
struct Rules;

using SegmentId = uint64_t;
using BatchId = uint64_t;
inline constexpr SegmentId kLocalSegment = 0;  // the engine's own memory, as a target

// What peers may do with registered memory. The numbers are those of the C API.
enum class Permission : int32_t { kLocalReadWrite = 0, kGlobalReadOnly = 1, kGlobalReadWrite = 2 };
std::string_view nameOf(Permission permission);  // "local_read_write", ...

struct MemoryOptions {
  MemoryLocation location;  // host memory alone is served by this build
  Permission permission = Permission::kGlobalReadWrite;
};

// One piece of memory of a segment.
struct BufferInfo {
  uint64_t base = 0;    // address in the process of the segment
  uint64_t length = 0;  // bytes
  MemoryLocation location;
  Permission permission = Permission::kGlobalReadWrite;
  Registration registration = Registration::kApplication;
};

struct SegmentInfo {
  std::string name;
  std::vector<BufferInfo> buffers;  // in order of their bases
};

// A request with what only the engine needs of it. `fields.target_offset` is an address inside the target's buffers.
struct Request {
  RequestFields fields;
  void* source = nullptr;  // this process's memory: read from for a write, written to for a read
  SegmentId target = kLocalSegment;
  // Why the caller's entry could not be read; nullptr: it could. Takes the request's turn among the others.
  const Error* unreadable = nullptr;
};

// A short message to the application at the other end: bytes of any kind.
struct Notification {
  static constexpr size_t kNameMax = 255;      // bytes
  static constexpr size_t kMessageMax = 4095;  // bytes
  std::string name;
  std::string message;
  SegmentId sender = kLocalSegment;  // of one received: the sender's segment, where it is open here; else 0
};

// Why a submit was refused as a whole.
struct SubmitFailure {
  Error error;        // of the first request that fails, in order of their index
  size_t failed = 0;  // how many requests fail; 0: the call itself does
};

// Counts since the engine was made.
struct EngineMetrics {
  struct DowngradeCount {
    Field field = Field::kNone;
    DowngradeReason reason = DowngradeReason::kUnknownIntentType;
    uint64_t count = 0;
  };
  struct TransportCount {
    Transport transport = Transport::kUnspec;
    uint64_t attempts_succeeded = 0;
    uint64_t attempts_failed = 0;
    uint64_t pauses = 0;  // because of failures
    Traffic traffic;
  };
  uint64_t requests_accepted = 0;
  uint64_t requests_rejected = 0;
  uint64_t tasks_completed = 0;
  uint64_t tasks_failed = 0;
  uint64_t tasks_canceled = 0;
  uint64_t deadlines_expired_on_submit = 0;
  uint64_t deadlines_met = 0;              // of those that had not passed on submit
  uint64_t deadlines_missed = 0;           // completed or canceled later, or failed
  uint64_t requests_queued = 0;            // accepted, and had to wait for room under their contract
  uint64_t requests_waiting = 0;           // now, of all engines of the tenant in this process
  std::vector<DowngradeCount> downgrades;  // those that occurred
  std::vector<TransportCount> transports;  // those that are built
};

// What holders of staging buffers, and those who wait for some, are given. Nanoseconds.
struct StagingTimes {
  uint64_t turn_ns = 20'000'000;          // a holder is not asked for its buffers earlier
  uint64_t patience_ns = 10'000'000'000;  // what it has to give back what was asked for
  uint64_t wait_ns = 20'000'000'000;      // what a request waits for its turn
  uint64_t silence_ns = 60'000'000'000;   // a holder of which nothing is heard for so long loses them
};

// What a request would get, and the memories that this was decided for.
struct Explanation {
  std::shared_ptr<const Rules> rules;  // which the decision refers to
  Decision decision;
  TransferShape shape;
};

struct EngineOptions {
  // Instead of the backends that the configuration enables. For tests; called once, in create.
  std::function<std::vector<std::unique_ptr<Backend>>(Loop& loop)> make_backends;
  // Instead of this machine as sysfs tells. `built` is set by the engine.
  std::optional<Environment> environment;
  uint64_t control_timeout_ns = 5'000'000'000;  // for one exchange with a peer, connecting included
  StagingTimes staging;
};

class Engine {
 public:
  // Listens on the configuration's rpc_server_hostname (default 127.0.0.1) and rpc_server_port (0: any free one). Does
  // not block beyond resolving the name. bad_configuration, io_error: the message names the key or the address, and
  // what to do.
  static tl::expected<std::unique_ptr<Engine>, Error> create(EngineConfig config, EngineOptions options = {});
  ~Engine();
  // What the destructor begins with, for those who have calls to wait for before it: everything in flight ends,
  // canceled where it has not ended otherwise, and what is submitted later fails.
  void endTransfers();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const std::string& segmentName() const;  // local_segment_name where configured, else "host:port"
  const std::string& address() const;      // "host:port" as peers reach it
  const EngineConfig& config() const;

  // ---- memory

  // `bytes` of zeros that peers of this machine can map; freed with freeMemory. resource_exhausted,
  // registration_failed.
  tl::expected<void*, Error> allocateMemory(uint64_t bytes, const MemoryOptions& options = {});
  // registration_failed: not what allocateMemory gave, or tasks of this engine from or to it are in flight.
  Error freeMemory(void* address);

  // Registers the application's memory, of which nothing need be mapped yet. A transfer that meets what is not mapped
  // when it is submitted, or not for this, fails; what is mapped then must stay so until it has ended. Registering the
  // same range again with the same options, or a range of allocated memory, changes nothing; each unregister undoes one
  // register. To unregister, 0 bytes stand for the registration that begins at the address.
  // registration_failed: another range overlaps, or other options.
  Error registerMemory(void* address, uint64_t bytes, const MemoryOptions& options = {});
  Error unregisterMemory(void* address, uint64_t bytes);

  // ---- segments

  // Connects to the engine at `name` ("host:port", "[v6]:port"), or finds it open already. Blocks for at most
  // control_timeout_ns, and while the host's name is looked up, if it is no numeric address. unknown_segment: not a
  // name; peer_unreachable, auth_failed: nobody of ours answers there; resource_exhausted: no descriptor is left here.
  tl::expected<SegmentId, Error> openSegment(const std::string& name);
  Error closeSegment(SegmentId segment);
  // As the peer describes itself now. Blocks as openSegment does.
  tl::expected<SegmentInfo, Error> segmentInfo(SegmentId segment);
  // What plans for this segment are made against, for its memory of this registration.
  tl::expected<Environment, Error> environmentFor(SegmentId segment, Registration registration);
  // XXH3-64 of ranges of the peer's memory that it lets peers read, computed by the peer. Blocks as openSegment does,
  // and for as long as the peer computes.
  struct Range {
    uint64_t address;
    uint64_t length;
  };
  tl::expected<std::vector<uint64_t>, Error> checksums(SegmentId segment, std::span<const Range> ranges);

  // ---- transfers

  // A batch with room for `capacity` tasks (1 to 1,048,576). resource_exhausted.
  tl::expected<BatchId, Error> allocateBatch(size_t capacity);
  // Only when no task of it is in flight: bad_batch otherwise, or when there is no such batch.
  Error freeBatch(BatchId batch);

  // Checks all requests, then dispatches them as the batch's next tasks. Does not wait for transfers; small ones over
  // shm may have ended when it returns. Allocates nothing when no request names a policy and none fails. A legacy
  // request that cannot be routed is accepted and its task fails, as deployed.
  //
  // With a notification, each segment that a request goes to receives it once all of these tasks are completed, and not
  // when one ends otherwise. The batch counts as in flight until it is received; a peer that does not take it fails the
  // batch's status, not the tasks'. null_notification, notification_too_long.
  tl::expected<void, SubmitFailure> submit(BatchId batch, std::span<const Request> requests, ValidationMode mode,
                                           const Notification* notification = nullptr);
  // What submit would say about the call itself: bad_batch, batch_full.
  Error checkRoom(BatchId batch, size_t count) const;
  // What submit would decide about a request at `now_ns` (CLOCK_MONOTONIC). Submits nothing. May ask the peer about its
  // buffers, as submit does; against an environment that is given nobody is asked, and the target is as that says.
  Explanation explain(const Request& request, ValidationMode mode, uint64_t now_ns,
                      const Environment* environment = nullptr);

  tl::expected<size_t, Error> taskCount(BatchId batch) const;
  tl::expected<TaskStatus, Error> taskStatus(BatchId batch, size_t task) const;
  tl::expected<TaskReport, Error> taskReport(BatchId batch, size_t task) const;
  // Pending while a task is; else failed, canceled or completed, the first of these that a task is; bytes of all.
  tl::expected<TaskStatus, Error> batchStatus(BatchId batch) const;

  // Waits until all tasks of the batch have ended, helping with copies meanwhile; false when `timeout_ns` passed
  // before (nullopt: no limit).
  tl::expected<bool, Error> wait(BatchId batch, std::optional<uint64_t> timeout_ns);
  // A descriptor that is readable while no task of the batch is in flight; valid until the batch is freed, owned here.
  tl::expected<int, Error> batchFd(BatchId batch);

  // Replaces what the configuration's `qos`, `policy` and `admission`, and the queue pair pools of its rdma endpoint,
  // decide: requests that are submitted from now on go by `config`; those in flight keep what they were given. The
  // result names other keys in which `config` differs: these are as when the engine was made, until it is made anew.
  std::vector<std::string> reloadPolicy(EngineConfig config);

  // Asks that a task does not begin. What is already on its way goes on; the task ends in any case.
  Error cancel(BatchId batch, size_t task);

  // ---- notifications

  // Blocks until the peer has it, for at most control_timeout_ns. resource_exhausted: nobody there takes what has
  // arrived before.
  Error sendNotification(SegmentId segment, const Notification& notification);
  // What has arrived since the last call, in its order.
  std::vector<Notification> receiveNotifications();

  EngineMetrics metrics() const;

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tent
