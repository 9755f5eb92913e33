// Batches and tasks: how attempts end, what is tried next, and what callers are told.
#include <cerrno>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/system_error.h"
#include "engine/engine_impl.h"
#include "engine/staged_transfers.h"

namespace tent {
namespace {

constexpr size_t kBatchCapacityMax = 1u << 20;

Error noSuchTask(BatchId batch, size_t task, size_t count) {
  return errorSaying(Reason::kBadBatch, Field::kBatch, batch,
                     fmt::format("the batch has no task {}: it has {}, counted from 0", task, count));
}

// Failures of the way, after which another way may do; the others are the request's own.
bool isFailureOfTransport(Reason reason) {
  switch (reason) {
    case Reason::kTimeout:
    case Reason::kPeerUnreachable:
    case Reason::kPeerLost:
    case Reason::kAuthFailed:
    case Reason::kRegistrationFailed:
    case Reason::kResourceExhausted:
    case Reason::kIoError: return true;
    default: return false;
  }
}

// The peer could not be connected to, so nothing was sent.
bool isOutOfReach(const Completion& completion) {
  const bool not_reached = completion.reason == Reason::kPeerUnreachable || completion.reason == Reason::kTimeout ||
                           completion.reason == Reason::kAuthFailed;
  return not_reached && completion.aftermath == Aftermath::kUntouched;
}

TaskState stateOf(Reason reason) {
  switch (reason) {
    case Reason::kNone: return TaskState::kCompleted;
    case Reason::kCanceled: return TaskState::kCanceled;
    case Reason::kTimeout: return TaskState::kTimeout;
    default: return TaskState::kFailed;
  }
}

// The most severe state of its tasks is that of a batch.
int severityOf(TaskState state) {
  switch (state) {
    case TaskState::kCompleted: return 0;
    case TaskState::kCanceled: return 1;
    case TaskState::kTimeout: return 2;
    case TaskState::kFailed: return 3;
    case TaskState::kInvalid: return 4;
    case TaskState::kPending: return 5;
    case TaskState::kWaiting: return 6;
  }
  return 0;
}

TaskStatus statusOf(const Task& task) {
  const TaskState state = task.state.load(std::memory_order_acquire);
  return {state, state == TaskState::kCompleted ? task.transfer.length : 0};
}

}  // namespace

void Engine::Impl::attemptEnded(Task& task, const Completion& completion) noexcept {
  if (task.chunk != nullptr) return staged()->wireEnded(task, completion);
  if (task.attempt_open) countAttempt(task, completion);
  if (completion.reason == Reason::kNone) return endTask(task, TaskState::kCompleted);
  if (completion.reason == Reason::kOutOfRange) task.peer->markStale();
  const bool another = isFailureOfTransport(completion.reason) && completion.aftermath != Aftermath::kUnsettled &&
                       !task.cancel_wanted.load(std::memory_order_relaxed);
  const Transport next = another ? nextTransport(task) : Transport::kUnspec;
  if (next != Transport::kUnspec) return handOver(task, next);
  // What waits for its turn would find the same, one after the other, each after as long.
  std::vector<Task*> alike;
  if (task.turn.limited && isOutOfReach(completion)) alike = admission_->takeAlike(task);
  task.error = errorOf(completion.reason, completion.detail);
  endTask(task, stateOf(completion.reason));
  for (Task* other : alike) {
    other->error = errorOf(completion.reason, completion.detail);
    endTask(*other, stateOf(completion.reason));
  }
}

void Engine::Impl::countAttempt(Task& task, const Completion& completion) {
  Attempt& attempt = task.attempts[task.attempt_count - 1];
  attempt.reason = completion.reason;
  attempt.aftermath = completion.aftermath;
  task.attempt_open = false;
  PerTransport& counts = per_transport_[static_cast<size_t>(attempt.transport)];
  TransportHealth& health = task.peer->health(attempt.transport);
  if (completion.reason == Reason::kNone) {
    counts.succeeded.fetch_add(1, std::memory_order_relaxed);
    return health.succeeded(task.attempt_incident);
  }
  counts.failed.fetch_add(1, std::memory_order_relaxed);
  if (!isFailureOfTransport(completion.reason) || !health.failed(task.attempt_incident, monotonicNowNs())) return;
  counts.pauses.fetch_add(1, std::memory_order_relaxed);
  task.peer->pauseBegan();
}

// What is tried after a failure: of the plan's transports that were not, the first that the peer still serves and that
// is not paused, else the first that it serves. kUnspec when none is left.
Transport Engine::Impl::nextTransport(const Task& task) const {
  TransportSet tried;
  for (size_t i = 0; i < task.attempt_count; ++i) tried.add(task.attempts[i].transport);
  const std::shared_ptr<const PeerView> view = task.peer->view();
  const TransportSet& lacks = view->environmentFor(task.buffer->memory.shared).peer_lacks;
  const uint64_t now_ns = monotonicNowNs();
  Transport paused = Transport::kUnspec;
  for (const Transport transport : task.route) {
    if (tried.has(transport) || lacks.has(transport)) continue;
    if (!task.peer->health(transport).isPaused(now_ns)) return transport;
    if (paused == Transport::kUnspec) paused = transport;
  }
  return paused;
}

void Engine::Impl::endTask(Task& task, TaskState state) {
  std::atomic<uint64_t>& count = state == TaskState::kCompleted  ? completed_
                                 : state == TaskState::kCanceled ? canceled_
                                                                 : failed_;
  count.fetch_add(1, std::memory_order_relaxed);
  const uint64_t now_ns = monotonicNowNs();
  // What was canceled in time has neither met nor missed it.
  if (task.deadline_ns != 0 && (state != TaskState::kCanceled || now_ns > task.deadline_ns)) {
    const bool met = state == TaskState::kCompleted && now_ns <= task.deadline_ns;
    (met ? deadlines_met_ : deadlines_missed_).fetch_add(1, std::memory_order_relaxed);
  }
  const bool was_limited = task.turn.limited;
  if (was_limited) admission_->leave(task);
  const std::shared_ptr<Notice> notice = std::move(task.notice);
  if (notice != nullptr && state != TaskState::kCompleted) notice->failed.store(true, std::memory_order_relaxed);
  Batch::end(task, state, now_ns);
  // All of the notice's tasks are seen as ended before the notification leaves.
  if (notice != nullptr && notice->tasks_left.fetch_sub(1, std::memory_order_acq_rel) == 1) notify(notice);
  if (was_limited) admission_->handOver();
}

uint64_t nextHandle() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::shared_ptr<Batch> Engine::Impl::findBatch(BatchId batch) const {
  const std::shared_lock lock(batches_mutex_);
  const auto it = batches_.find(batch);
  return it == batches_.end() ? nullptr : it->second;
}

bool Engine::Impl::usesInFlight(uint64_t base, uint64_t length) const {
  const std::shared_lock lock(batches_mutex_);
  for (const auto& [id, batch] : batches_) {
    if (batch->idle()) continue;
    const size_t used = batch->used();
    for (size_t i = 0; i < used; ++i) {
      const Task& task = *batch->task(i);
      if (isTerminal(task.state.load(std::memory_order_acquire))) continue;
      const uint64_t local = reinterpret_cast<uintptr_t>(task.transfer.local);
      if (local < base + length && base < local + task.transfer.length) return true;
    }
  }
  return false;
}

tl::expected<BatchId, Error> Engine::Impl::allocateBatch(size_t capacity) {
  if (capacity == 0 || capacity > kBatchCapacityMax) {
    return tl::unexpected(errorSaying(
        Reason::kResourceExhausted, Field::kCount, uint64_t{capacity},
        fmt::format("a batch for {} tasks cannot be had: it has room for 1 to {}", capacity, kBatchCapacityMax)));
  }
  auto batch = std::make_shared<Batch>(capacity);
  const BatchId id = nextHandle();
  const std::unique_lock lock(batches_mutex_);
  batches_.emplace(id, std::move(batch));
  return id;
}

Error Engine::Impl::freeBatch(BatchId batch) {
  std::shared_ptr<Batch> freed;
  const std::unique_lock lock(batches_mutex_);
  const auto it = batches_.find(batch);
  if (it == batches_.end()) return badBatch(batch);
  if (!it->second->idle()) {
    return errorSaying(Reason::kBadBatch, Field::kBatch, batch,
                       "the batch cannot be freed: tasks of it are in flight; wait for them first");
  }
  freed = std::move(it->second);
  batches_.erase(it);
  return {};
}

tl::expected<size_t, Error> Engine::Impl::taskCount(BatchId batch) const {
  const std::shared_ptr<Batch> found = findBatch(batch);
  if (found == nullptr) return tl::unexpected(badBatch(batch));
  return found->used();
}

tl::expected<TaskStatus, Error> Engine::Impl::taskStatus(BatchId batch, size_t task) const {
  const std::shared_ptr<Batch> found = findBatch(batch);
  if (found == nullptr) return tl::unexpected(badBatch(batch));
  const Task* its = found->task(task);
  if (its == nullptr) return tl::unexpected(noSuchTask(batch, task, found->used()));
  return statusOf(*its);
}

tl::expected<TaskReport, Error> Engine::Impl::taskReport(BatchId batch, size_t task) const {
  const std::shared_ptr<Batch> found = findBatch(batch);
  if (found == nullptr) return tl::unexpected(badBatch(batch));
  const Task* its = found->task(task);
  if (its == nullptr) return tl::unexpected(noSuchTask(batch, task, found->used()));
  tl::expected<TaskReport, Error> result;  // filled in place: GCC 12 warns, wrongly, about the move
  TaskReport& report = *result;
  report.status = statusOf(*its);
  report.submitted_ns = its->submitted_ns;
  if (!isTerminal(report.status.state)) return result;
  report.error = its->error;
  if (report.error) report.error.index = static_cast<int64_t>(task);
  report.attempts = its->attempts;
  report.attempt_count = its->attempt_count;
  report.dispatch_order = its->dispatch_order;
  report.ended_ns = its->ended_ns;
  return result;
}

tl::expected<TaskStatus, Error> Engine::Impl::batchStatus(BatchId batch) const {
  const std::shared_ptr<Batch> found = findBatch(batch);
  if (found == nullptr) return tl::unexpected(badBatch(batch));
  TaskStatus all{TaskState::kCompleted, 0};
  for (size_t i = 0; i < found->used(); ++i) {
    const TaskStatus status = statusOf(*found->task(i));
    if (severityOf(status.state) > severityOf(all.state)) all.state = status.state;
    all.transferred_bytes += status.transferred_bytes;
  }
  if (all.state == TaskState::kCompleted) all.state = found->stateOfNotices();
  return all;
}

tl::expected<bool, Error> Engine::Impl::wait(BatchId batch, std::optional<uint64_t> timeout_ns) {
  const std::shared_ptr<Batch> found = findBatch(batch);
  if (found == nullptr) return tl::unexpected(badBatch(batch));
  const auto help = [this] {
    const std::shared_lock lock(segments_mutex_);
    for (const auto& [id, segment] : segments_) {
      Lane* lane = segment.peer == nullptr ? nullptr : segment.peer->lane(Transport::kShm);
      if (lane != nullptr && lane->progress()) return true;
    }
    return false;
  };
  return found->wait(timeout_ns, help);
}

tl::expected<int, Error> Engine::Impl::batchFd(BatchId batch) {
  const std::shared_ptr<Batch> found = findBatch(batch);
  if (found == nullptr) return tl::unexpected(badBatch(batch));
  const int fd = found->waitableFd();
  if (fd >= 0) return fd;
  return tl::unexpected(errorOfSystem(Reason::kResourceExhausted, "no descriptor for the batch", errno));
}

Error Engine::Impl::cancel(BatchId batch, size_t task) {
  const std::shared_ptr<Batch> found = findBatch(batch);
  if (found == nullptr) return badBatch(batch);
  Task* its = found->task(task);
  if (its == nullptr) return noSuchTask(batch, task, found->used());
  its->cancel_wanted.store(true, std::memory_order_relaxed);
  if (its->turn.limited && admission_->takeOut(*its)) {
    its->error = errorOf(Reason::kCanceled, "");
    endTask(*its, TaskState::kCanceled);
    return {};
  }
  // While this is held no peer is let go of, and a task in flight holds its own until then.
  const std::shared_lock lock(segments_mutex_);
  if (isTerminal(its->state.load(std::memory_order_acquire))) return {};
  if (Lane* lane = its->lane.load(std::memory_order_acquire)) lane->cancel(*its);
  if (!its->staged.empty()) staged()->lookForCanceled();
  return {};
}

EngineMetrics Engine::Impl::metrics() const {
  EngineMetrics metrics;
  metrics.requests_accepted = accepted_.load(std::memory_order_relaxed);
  metrics.requests_rejected = rejected_.load(std::memory_order_relaxed);
  metrics.tasks_completed = completed_.load(std::memory_order_relaxed);
  metrics.tasks_failed = failed_.load(std::memory_order_relaxed);
  metrics.tasks_canceled = canceled_.load(std::memory_order_relaxed);
  metrics.deadlines_expired_on_submit = expired_on_submit_.load(std::memory_order_relaxed);
  metrics.deadlines_met = deadlines_met_.load(std::memory_order_relaxed);
  metrics.deadlines_missed = deadlines_missed_.load(std::memory_order_relaxed);
  metrics.requests_queued = queued_.load(std::memory_order_relaxed);
  metrics.requests_waiting = admission_->waiting();
  for (size_t field = 0; field < downgrades_.size(); ++field) {
    for (size_t reason = 0; reason < downgrades_[field].size(); ++reason) {
      const uint64_t count = downgrades_[field][reason].load(std::memory_order_relaxed);
      if (count == 0) continue;
      metrics.downgrades.push_back({static_cast<Field>(field), static_cast<DowngradeReason>(reason), count});
    }
  }
  for (const Server& server : servers_) {
    const PerTransport& counts = per_transport_[static_cast<size_t>(server.transport)];
    metrics.transports.push_back({server.transport, counts.succeeded.load(std::memory_order_relaxed),
                                  counts.failed.load(std::memory_order_relaxed),
                                  counts.pauses.load(std::memory_order_relaxed), server.backend->traffic()});
  }
  return metrics;
}

}  // namespace tent
