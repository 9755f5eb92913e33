// Submit: every request is decided in the order of semantics.md section 2, all before the first is dispatched.
#include <algorithm>

#include "base/clock.h"
#include "engine/engine_impl.h"
#include "engine/notification.h"
#include "engine/staged_transfers.h"
#include "intent/normalize.h"
#include "policy/resolve.h"

namespace tent {
namespace {

bool needsWrite(Opcode opcode) {
  return opcode == Opcode::kWrite;
}

Error batchFull(size_t count) {
  return {Reason::kBatchFull, Field::kCount, -1, uint64_t{count}, "the batch has no room for so many tasks"};
}

// What a legacy call accepts and then lets its task fail for, as deployed: requests that cannot be routed.
bool isLegacyRouting(const Request& request, const Error& error) {
  if (request.fields.surface != Surface::kLegacy) return false;
  switch (error.reason) {
    case Reason::kUnknownSegment:
    case Reason::kOutOfRange:
    case Reason::kPermissionDenied:
    case Reason::kNoTransport:
    case Reason::kDeadlineExpired:
    case Reason::kPeerUnreachable:
    case Reason::kStaleSegment: return true;
    default: return false;
  }
}

}  // namespace

// One call of submit, and what is known of the request that it is at.
struct Engine::Impl::Submission {
  ValidationMode mode = ValidationMode::kStrict;
  uint64_t now_ns = 0;
  SegmentId target = kLocalSegment;  // of `peer`; requests of one call mostly go to one segment
  std::shared_ptr<Peer> peer;
  std::shared_ptr<const PeerView> view;
  bool refreshed = false;  // the view is of this call
  uint64_t expired = 0;    // requests of which the deadline has passed

  RequestedIntent requested;
  EffectivePolicy effective;
  TransferShape shape;
  const PeerBuffer* buffer = nullptr;
  bool local_registered = false;
  bool resolved = false;  // `effective` is the request's

  bool nothingToMove() const { return requested.length == 0; }  // of a legacy request: completes at once
};

// Finds the target of a request. What is wrong with it is said later, in its turn.
Error Engine::Impl::locate(const Request& request, Submission& submission) {
  submission.buffer = nullptr;
  submission.shape = {};
  submission.shape.length = submission.requested.length;
  if (submission.peer == nullptr || submission.target != request.target) {
    auto peer = peerOf(request.target);
    if (!peer) {
      submission.peer = nullptr;
      return std::move(peer.error());
    }
    submission.target = request.target;
    submission.peer = *std::move(peer);
    submission.view = submission.peer->view();
    submission.refreshed = false;
  }
  if (submission.peer->takeStale()) {
    submission.refreshed = true;
    if (auto view = refresh(*submission.peer)) submission.view = *std::move(view);
  }
  const LocalMemory::Place place = memory_->placeOf(request.source, submission.requested.length);
  submission.local_registered = place.registered;
  submission.shape.local_memory = place.location;
  submission.shape.same_machine = submission.view->application.same_machine;

  const uint64_t address = submission.requested.target_offset;
  const uint64_t length = submission.requested.length;
  submission.buffer = submission.view->description.find(address, length);
  if (submission.buffer == nullptr && !submission.refreshed) {
    // It may have been registered since the peer was asked last.
    submission.refreshed = true;
    auto view = refresh(*submission.peer);
    if (!view) return std::move(view.error());
    submission.view = *std::move(view);
    submission.buffer = submission.view->description.find(address, length);
  }
  if (submission.buffer == nullptr) {
    return {Reason::kOutOfRange, Field::kTargetOffset, -1, address,
            "no buffer of the segment that peers may reach holds it"};
  }
  submission.shape.remote_memory = submission.buffer->location;
  if (needsWrite(submission.requested.opcode) && submission.buffer->memory.access != Access::kReadWrite) {
    return {Reason::kPermissionDenied, Field::kTargetOffset, -1, address,
            "the segment lets peers only read this buffer"};
  }
  return {};
}

// The transports to try, as the plan has them. Requests that decide alike share one plan.
Error Engine::Impl::route(Submission& submission, Task& task) {
  const bool shared = submission.buffer->memory.shared;
  const RouteKey key{shared,
                     submission.requested.transport_hint,
                     submission.shape.local_memory,
                     submission.shape.remote_memory,
                     submission.effective.transport_policy,
                     submission.effective.authorized_transports};
  Route route;
  if (!submission.peer->findRoute(submission.view.get(), key, route)) {
    if (Error error = planRoute(submission, route)) return error;
    submission.peer->keepRoute(submission.view.get(), key, route);
  }
  task.route = route.transports;
  task.staged = route.staged;
  return {};
}

Error Engine::Impl::planRoute(const Submission& submission, Route& route) {
  const bool shared = submission.buffer->memory.shared;
  PlanOutcome outcome = makePlan(submission.requested, submission.effective, submission.shape, config_.policies,
                                 config_.plan, submission.view->environmentFor(shared));
  if (outcome.error) return std::move(outcome.error);
  route.transports = {outcome.plan.primary};
  for (Transport transport : outcome.plan.fallbacks) route.transports.add(transport);
  route.staged = outcome.plan.staged_fallbacks;
  if (outcome.plan.path_kind == PathKind::kStaged) route.staged.add(outcome.plan.primary);
  return route.staged.empty() ? Error{} : readyToStage(submission.shape);
}

Error Engine::Impl::authorize(const Request& request, Submission& submission) {
  submission.resolved = false;
  if (request.unreadable != nullptr) {
    submission.requested = {};
    return *request.unreadable;
  }
  RequestFields fields = request.fields;
  fields.has_source = request.source != nullptr;
  if (Error error = normalizeRequest(fields, submission.mode, submission.now_ns, submission.requested)) return error;
  Error target_error = submission.nothingToMove() ? Error{} : locate(request, submission);
  const TransportSet built = environment_.built;
  if (Error error = resolve(submission.requested, submission.shape, tenant_, config_.policies, built, submission.mode,
                            submission.effective)) {
    return error;
  }
  submission.resolved = true;
  return target_error;
}

Error Engine::Impl::prepare(const Request& request, Submission& submission, Task& task) {
  if (Error error = authorize(request, submission)) return error;
  const bool nothing_to_move = submission.nothingToMove();
  if (!nothing_to_move) {
    if (Error error = route(submission, task)) return error;
  }
  if (Error error = checkAdmission(submission.requested, submission.effective)) return error;

  task.priority = submission.effective.priority;
  task.transfer.length = submission.requested.length;
  if (nothing_to_move) return {};
  task.transfer.direction = needsWrite(submission.requested.opcode) ? Direction::kWrite : Direction::kRead;
  task.transfer.local = static_cast<std::byte*>(request.source);
  task.transfer.remote_address = submission.requested.target_offset;
  task.transfer.local_registered = submission.local_registered;
  task.buffer = submission.buffer;
  task.peer = submission.peer;
  task.view = submission.view;
  return {};
}

tl::expected<void, SubmitFailure> Engine::Impl::submit(BatchId batch_id, std::span<const Request> requests,
                                                       ValidationMode mode, const Notification* notification) {
  const std::shared_ptr<Batch> batch = findBatch(batch_id);
  if (batch == nullptr) return tl::unexpected(SubmitFailure{badBatch(batch_id), 0});
  if (notification != nullptr) {
    if (Error error = checkNotification(*notification)) return tl::unexpected(SubmitFailure{std::move(error), 0});
  }
  const std::lock_guard lock(batch->submitMutex());
  if (requests.size() > batch->room()) return tl::unexpected(SubmitFailure{batchFull(requests.size()), 0});

  Submission submission;
  submission.mode = mode;
  submission.now_ns = monotonicNowNs();
  SubmitFailure failure;
  for (size_t i = 0; i < requests.size(); ++i) {
    Task& task = batch->slot(i);
    Error error = prepare(requests[i], submission, task);
    countDowngrades(submission.requested.downgrades);
    if (submission.requested.deadline.state == DeadlineState::kExpired) ++submission.expired;
    if (!error) continue;
    error.index = static_cast<int64_t>(i);
    if (isLegacyRouting(requests[i], error)) {
      task.error = std::move(error);
    } else if (failure.failed++ == 0) {
      failure.error = std::move(error);
    }
  }
  if (failure.failed > 0) {
    for (size_t i = 0; i < requests.size(); ++i) {
      Task& task = batch->slot(i);
      task.peer.reset();
      task.view.reset();
      task.error = {};
    }
    rejected_.fetch_add(requests.size(), std::memory_order_relaxed);
    return tl::unexpected(std::move(failure));
  }

  if (requests.empty()) return {};
  const auto notice = notification == nullptr ? nullptr : std::make_shared<Notice>();
  const size_t first = batch->used();
  for (size_t i = 0; i < requests.size(); ++i) {
    Task& task = batch->slot(i);
    task.batch = batch;
    task.submitted_ns = submission.now_ns;
    task.state.store(TaskState::kPending, std::memory_order_relaxed);
    if (notice == nullptr) continue;
    task.notice = notice;
    const auto& known = notice->targets;
    if (task.peer != nullptr && std::find(known.begin(), known.end(), task.peer) == known.end()) {
      notice->targets.push_back(task.peer);
    }
  }
  if (notice != nullptr) {
    notice->name = notification->name;
    notice->message = notification->message;
    notice->batch = batch;
    notice->tasks_left.store(requests.size(), std::memory_order_relaxed);
  }
  accepted_.fetch_add(requests.size(), std::memory_order_relaxed);
  expired_on_submit_.fetch_add(submission.expired, std::memory_order_relaxed);
  batch->commit(requests.size(), notice != nullptr);
  dispatch(*batch, first, requests.size());
  return {};
}

Error Engine::Impl::checkRoom(BatchId batch_id, size_t count) const {
  const std::shared_ptr<Batch> batch = findBatch(batch_id);
  if (batch == nullptr) return badBatch(batch_id);
  return count > batch->room() ? batchFull(count) : Error{};
}

Explanation Engine::Impl::explain(const Request& request, ValidationMode mode, uint64_t now_ns) {
  Submission submission;
  submission.mode = mode;
  submission.now_ns = now_ns;
  Explanation explanation;
  Decision& decision = explanation.decision;
  decision.error = authorize(request, submission);
  decision.requested = submission.requested;
  explanation.shape = submission.shape;
  // What was resolved before the target turned out to be wrong is told too, as everywhere.
  if (submission.resolved) decision.effective = submission.effective;
  if (decision.error) return explanation;
  if (submission.nothingToMove()) {
    decision.error = checkAdmission(submission.requested, submission.effective);
  } else {
    const Environment& environment = submission.view->environmentFor(submission.buffer->memory.shared);
    planDecision(decision, submission.shape, {config_.policies, config_.plan, environment});
  }
  return explanation;
}

Explanation Engine::Impl::explainAgainst(const Environment& environment, const Request& request, ValidationMode mode,
                                         uint64_t now_ns) {
  Explanation explanation;
  explanation.shape.local_memory = memory_->placeOf(request.source, 1).location;
  if (request.unreadable != nullptr) {
    explanation.decision.error = *request.unreadable;
  } else {
    RequestFields fields = request.fields;
    fields.has_source = request.source != nullptr;
    explanation.decision =
        decide(fields, explanation.shape, tenant_.name, mode, now_ns, {config_.policies, config_.plan, environment});
  }
  return explanation;
}

// By priority, so that what is urgent is not behind what came with it; what goes the same way is handed over together.
void Engine::Impl::dispatch(Batch& batch, size_t first, size_t count) {
  constexpr size_t kTogether = 256;
  std::array<Task*, kTogether> group;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled up to `grouped`
  for (const Priority priority : {Priority::kHigh, Priority::kMedium, Priority::kLow}) {
    Lane* lane = nullptr;
    size_t grouped = 0;
    const auto flush = [&] {
      if (grouped > 0) lane->push({group.data(), grouped});
      grouped = 0;
    };
    for (size_t i = first; i < first + count; ++i) {
      Task& task = *batch.task(i);
      if (task.priority != priority || task.state.load(std::memory_order_relaxed) != TaskState::kPending) continue;
      if (task.error) {
        endTask(task, TaskState::kFailed);
      } else if (task.peer == nullptr) {
        endTask(task, TaskState::kCompleted);
      } else if (task.staged.has(*task.route.begin())) {
        handOver(task);
      } else {
        Lane* const its_lane = task.peer->lane(*task.route.begin());
        if (its_lane != lane || grouped == kTogether) flush();
        lane = its_lane;
        group[grouped++] = &task;
      }
    }
    flush();
  }
}

void Engine::Impl::handOver(Task& task) {
  const Transport transport = task.route.begin()[task.attempt_count];
  if (task.staged.has(transport)) return staged()->push(task, transport);
  const std::shared_ptr<Peer> peer = task.peer;  // may outlive the task's hold on it
  Task* const one = &task;
  peer->lane(transport)->push({&one, 1});
}

void Engine::Impl::countDowngrades(const Downgrades& downgrades) {
  for (const Downgrade& downgrade : downgrades) {
    downgrades_[static_cast<size_t>(downgrade.field)][static_cast<size_t>(downgrade.reason)].fetch_add(
        1, std::memory_order_relaxed);
  }
}

}  // namespace tent
