// Submit: every request is decided in the order of semantics.md section 2, all before the first is dispatched.
#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "engine/engine_impl.h"
#include "engine/notification.h"
#include "engine/staged_transfers.h"
#include "intent/normalize.h"
#include "policy/resolve.h"
#include "transport/mapped_memory.h"

namespace tent {
namespace {

bool needsWrite(Opcode opcode) {
  return opcode == Opcode::kWrite;
}

Error batchFull(size_t count, size_t room) {
  return {Reason::kBatchFull, Field::kCount, -1, uint64_t{count},
          fmt::format("{} are submitted, and it has room for {} more", count, room)};
}

SubmitFailure queueFull(const TenantAdmission::Refusal& refusal) {
  return {{Reason::kAdmissionQueueFull, Field::kNone, static_cast<int64_t>(refusal.first),
           uint64_t{TenantAdmission::kWaitingMax},
           "so many requests of the tenant and intent wait for room under the contract already: wait for some of them, "
           "or raise max_inflight_bytes or max_inflight_requests"},
          refusal.count};
}

// Whether a plan failed for the pauses alone, as far as the health of transports goes: nothing healthy would have done,
// with the hint or without. To try what is paused is better then than to fail without trying.
bool leftOnlyPaused(const Error& error, const std::vector<Rejected>& rejected, const Environment& environment) {
  if (error.reason != Reason::kNoTransport && error.reason != Reason::kHintUnavailable) return false;
  return !environment.unhealthy.empty() &&
         std::ranges::find(rejected, RejectReason::kHintExcluded, &Rejected::reason) == rejected.end();
}

Environment withoutPauses(const Environment& environment) {
  Environment copy = environment;
  copy.unhealthy = {};
  return copy;
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
  std::shared_ptr<const Rules> rules;
  ValidationMode mode = ValidationMode::kStrict;
  uint64_t now_ns = 0;
  SegmentId target = kLocalSegment;  // of `peer`; requests of one call mostly go to one segment
  std::shared_ptr<Peer> peer;
  std::shared_ptr<const PeerView> view;
  bool refreshed = false;  // the view is of this call
  uint64_t expired = 0;    // requests of which the deadline has passed
  bool limited = false;    // some are bounded by their contract

  RequestedIntent requested;
  EffectivePolicy effective;
  TransferShape shape;
  const PeerBuffer* buffer = nullptr;
  bool local_mapped = false;        // the request's source, for what is done with it
  const std::byte* seen = nullptr;  // the registration that was looked at last, and whether it is mapped; once a call
  bool seen_mapped = false;
  bool resolved = false;  // `effective` is the request's

  // Whether registered memory is as it was when it was registered, as far as that is cheap to see, and allows what the
  // request does with it. Where not, it is copied with care, which tells what was wrong.
  bool isUsable(const LocalMemory::Place& place) {
    if (place.allocated) return true;
    const bool read = requested.opcode == Opcode::kRead;
    if (place.own_access < (read ? Access::kReadWrite : Access::kRead)) return false;
    if (seen != place.base) {
      seen = place.base;
      seen_mapped = isMapped(place.base, place.length);
    }
    return seen_mapped;
  }

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
  } else if (submission.peer->pausesChanged()) {
    submission.view = viewWithPauses(*submission.peer);
  }
  const LocalMemory::Place place = memory_->placeOf(request.source, submission.requested.length);
  submission.local_mapped = place.registered && submission.isUsable(place);
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
                     submission.rules->generation,
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
  const auto plan_for = [&](const Environment& environment) {
    return makePlan(submission.requested, submission.effective, submission.shape, submission.rules->policies,
                    config_.plan, environment);
  };
  const Environment& environment = submission.view->environmentFor(submission.buffer->memory.shared);
  PlanOutcome outcome = plan_for(environment);
  if (leftOnlyPaused(outcome.error, outcome.plan.rejected, environment)) outcome = plan_for(withoutPauses(environment));
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
  const Rules& rules = *submission.rules;
  if (Error error = resolve(submission.requested, submission.shape, rules.tenant, rules.policies, environment_.built,
                            submission.mode, submission.effective)) {
    return error;
  }
  submission.resolved = true;
  return target_error;
}

Error Engine::Impl::prepare(const Request& request, Submission& submission, Task& task) {
  task.turn.limited = false;
  if (Error error = authorize(request, submission)) return error;
  const bool nothing_to_move = submission.nothingToMove();
  if (!nothing_to_move) {
    if (Error error = route(submission, task)) return error;
  }
  if (Error error = checkAdmission(submission.requested, submission.effective)) return error;

  task.priority = submission.effective.priority;
  task.transfer.length = submission.requested.length;
  task.deadline_ns =
      submission.requested.deadline.state == DeadlineState::kPending ? submission.requested.deadline.deadline_ns : 0;
  if (nothing_to_move) return {};
  takeTurn(submission, task);
  task.transfer.direction = needsWrite(submission.requested.opcode) ? Direction::kWrite : Direction::kRead;
  task.transfer.local = static_cast<std::byte*>(request.source);
  task.transfer.remote_address = submission.requested.target_offset;
  task.transfer.local_mapped = submission.local_mapped;
  task.buffer = submission.buffer;
  task.peer = submission.peer;
  task.view = submission.view;
  return {};
}

// The place in admission that the contract gives it; none where that sets no limit.
void Engine::Impl::takeTurn(const Submission& submission, Task& task) const {
  const Contract& contract = *submission.effective.contract;
  Turn& turn = task.turn;
  turn.limited = contract.max_inflight_bytes.value || contract.max_inflight_requests.value;
  if (!turn.limited) return;
  turn.limits.bytes = contract.max_inflight_bytes.value.value_or(UINT64_MAX);
  turn.limits.requests = contract.max_inflight_requests.value.value_or(UINT64_MAX);
  turn.intent = submission.effective.intent_type;
  turn.priority = submission.effective.priority;
  turn.bytes = submission.requested.length;
  turn.deadline_ns = submission.requested.deadline.deadline_ns;
  turn.reject_expired = submission.effective.admission == ExpiredAdmission::kReject;
}

SubmitFailure Engine::Impl::refuse(std::span<Task> tasks, SubmitFailure failure) {
  for (Task& task : tasks) {
    task.peer.reset();
    task.view.reset();
    task.error = {};
  }
  rejected_.fetch_add(tasks.size(), std::memory_order_relaxed);
  return failure;
}

// Makes the notice that follows the tasks, which have just been prepared.
std::shared_ptr<Notice> Engine::Impl::attachNotice(const std::shared_ptr<Batch>& batch, std::span<Task> tasks,
                                                   const Notification& notification) {
  auto notice = std::make_shared<Notice>();
  notice->name = notification.name;
  notice->message = notification.message;
  notice->batch = batch;
  notice->tasks_left.store(tasks.size(), std::memory_order_relaxed);
  auto& known = notice->targets;
  for (Task& task : tasks) {
    task.notice = notice;
    if (task.peer != nullptr && std::find(known.begin(), known.end(), task.peer) == known.end()) {
      known.push_back(task.peer);
    }
  }
  return notice;
}

tl::expected<void, SubmitFailure> Engine::Impl::submit(BatchId batch_id, std::span<const Request> requests,
                                                       ValidationMode mode, const Notification* notification) {
  const std::shared_ptr<Batch> batch = findBatch(batch_id);
  if (batch == nullptr) return tl::unexpected(SubmitFailure{badBatch(batch_id), 0});
  if (notification != nullptr) {
    if (Error error = checkNotification(*notification)) return tl::unexpected(SubmitFailure{std::move(error), 0});
  }
  const std::lock_guard lock(batch->submitMutex());
  if (requests.size() > batch->room()) {
    return tl::unexpected(SubmitFailure{batchFull(requests.size(), batch->room()), 0});
  }
  const std::span<Task> tasks = batch->slots(requests.size());

  Submission submission;
  submission.rules = rules();
  submission.mode = mode;
  submission.now_ns = monotonicNowNs();
  SubmitFailure failure;
  for (size_t i = 0; i < requests.size(); ++i) {
    Error error = prepare(requests[i], submission, tasks[i]);
    countDowngrades(submission.requested.downgrades);
    if (submission.requested.deadline.state == DeadlineState::kExpired) ++submission.expired;
    submission.limited |= tasks[i].turn.limited;
    if (!error) continue;
    error.index = static_cast<int64_t>(i);
    if (isLegacyRouting(requests[i], error)) {
      tasks[i].error = std::move(error);
    } else if (failure.failed++ == 0) {
      failure.error = std::move(error);
    }
  }
  if (failure.failed > 0) return tl::unexpected(refuse(tasks, std::move(failure)));
  if (requests.empty()) return {};

  {
    // Tasks that wait for their turn are not handed over by other threads before they are the batch's.
    std::optional<TenantAdmission::Entry> entry;
    if (submission.limited) {
      entry.emplace(*admission_);
      if (const auto refusal = entry->take(tasks, *this)) {
        entry.reset();
        admission_->handOver();
        return tl::unexpected(refuse(tasks, queueFull(*refusal)));
      }
      const auto waiting = std::ranges::count_if(tasks, [](const Task& task) { return task.turn.waits(); });
      queued_.fetch_add(static_cast<uint64_t>(waiting), std::memory_order_relaxed);
    }
    for (Task& task : tasks) {
      task.batch = batch;
      task.submitted_ns = submission.now_ns;
      task.state.store(TaskState::kPending, std::memory_order_relaxed);
    }
    if (notification != nullptr) attachNotice(batch, tasks, *notification);
    accepted_.fetch_add(requests.size(), std::memory_order_relaxed);
    expired_on_submit_.fetch_add(submission.expired, std::memory_order_relaxed);
    batch->commit(requests.size(), notification != nullptr);
  }
  dispatch(tasks);
  if (submission.limited) admission_->handOver();
  return {};
}

Error Engine::Impl::checkRoom(BatchId batch_id, size_t count) const {
  const std::shared_ptr<Batch> batch = findBatch(batch_id);
  if (batch == nullptr) return badBatch(batch_id);
  return count > batch->room() ? batchFull(count, batch->room()) : Error{};
}

Explanation Engine::Impl::explain(const Request& request, ValidationMode mode, uint64_t now_ns) {
  Submission submission;
  submission.rules = rules();
  submission.mode = mode;
  submission.now_ns = now_ns;
  Explanation explanation;
  explanation.rules = submission.rules;
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
    planDecision(decision, submission.shape, {submission.rules->policies, config_.plan, environment});
    if (leftOnlyPaused(decision.error, decision.rejected, environment)) {
      decision.rejected.clear();
      planDecision(decision, submission.shape, {submission.rules->policies, config_.plan, withoutPauses(environment)});
    }
  }
  return explanation;
}

Explanation Engine::Impl::explainAgainst(const Environment& environment, const Request& request, ValidationMode mode,
                                         uint64_t now_ns) {
  Explanation explanation;
  explanation.rules = rules();
  explanation.shape.local_memory = memory_->placeOf(request.source, 1).location;
  if (request.unreadable != nullptr) {
    explanation.decision.error = *request.unreadable;
  } else {
    RequestFields fields = request.fields;
    fields.has_source = request.source != nullptr;
    explanation.decision = decide(fields, explanation.shape, tenant_, mode, now_ns,
                                  {explanation.rules->policies, config_.plan, environment});
  }
  return explanation;
}

void Engine::Impl::countDowngrades(const Downgrades& downgrades) {
  for (const Downgrade& downgrade : downgrades) {
    downgrades_[static_cast<size_t>(downgrade.field)][static_cast<size_t>(downgrade.reason)].fetch_add(
        1, std::memory_order_relaxed);
  }
}

}  // namespace tent
