#include "tent-submit/wave_run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>

#include <fmt/format.h>
#include <poll.h>

#include "base/clock.h"
#include "common/interrupt.h"
#include "intent/normalize.h"
#include "report/explain.h"

namespace tent::tool {
namespace {

// How long a transfer that is on its way may take to end once the run was interrupted.
constexpr uint64_t kSettleNs = 1'000'000'000;

}  // namespace

WaveRun::WaveRun(Job& job, const WaveOptions& options, std::vector<Item> items)
    : job_(job), options_(options), items_(std::move(items)), transfers_(items_.size()), outcomes_(items_.size()) {
  for (size_t i = 0; i < items_.size(); ++i) parts_[entryOf(i).session].items.push_back(i);
}

void WaveRun::run() {
  place();
  fill();
  options_.clock->begin();
  for (auto& [session, part] : parts_) submit(*session, part);
  const End end = await();
  for (auto& [session, part] : parts_) {
    collect(*session, part, end);
    // What is still in flight keeps its batch; the engine ends both.
    if (part.batch) session->engine().freeBatch(*part.batch);
  }
  if (options_.verify) end == End::kAll ? verify() : leaveUnverified(end);
  if (end == End::kAll) noteLostPeer();
}

void RunClock::begin() {
  if (!timeout_ns_ || deadline_ns_.load(std::memory_order_relaxed) != 0) return;
  const uint64_t now_ns = monotonicNowNs();
  // A limit beyond the end of the clock is none.
  uint64_t unset = 0;
  if (*timeout_ns_ <= UINT64_MAX - now_ns) deadline_ns_.compare_exchange_strong(unset, now_ns + *timeout_ns_);
}

std::optional<uint64_t> RunClock::deadline() const {
  const uint64_t deadline_ns = deadline_ns_.load(std::memory_order_relaxed);
  return deadline_ns == 0 ? std::nullopt : std::optional(deadline_ns);
}

bool RunClock::over() const {
  const auto deadline_ns = deadline();
  return deadline_ns && monotonicNowNs() >= *deadline_ns;
}

void WaveRun::fail(size_t item, Error error) {
  transfers_[item].failed = true;
  setOutcome(item, ExecutionStatus::kFailed, std::move(error));
}

void WaveRun::setOutcome(size_t item, ExecutionStatus status, Error error) {
  // The engine speaks of addresses in the peer's memory, which are nobody's business; the file of offsets.
  if (error.field == Field::kTargetOffset) error.value = entryOf(item).vector.fields.target_offset;
  outcomes_[item].status = status;
  outcomes_[item].error = std::move(error);
}

void WaveRun::place() {
  using Key = std::tuple<Session*, Registration, MemoryKind, int>;
  std::map<Key, std::vector<size_t>> groups;
  for (size_t i = 0; i < items_.size(); ++i) {
    const Entry& entry = entryOf(i);
    const MemoryLocation& location = entry.vector.source_memory;
    groups[{entry.session, entry.vector.source_registration, location.kind, location.ordinal}].push_back(i);
  }
  for (const auto& [key, group] : groups) {
    const auto& [session, registration, kind, ordinal] = key;
    uint64_t bytes = 0;
    for (const size_t item : group) bytes += sourceBytes(entryOf(item).vector.fields.length);
    const auto base = session->memory(peer()).reserve(session->engine(), registration, {kind, ordinal}, bytes);
    if (!base) {
      for (const size_t item : group) fail(item, base.error());
      continue;
    }
    std::byte* at = *base;
    for (const size_t item : group) {
      const uint64_t length = entryOf(item).vector.fields.length;
      transfers_[item].memory = {at, length};
      at += sourceBytes(length);
    }
  }
}

// Each call of submit has one validation mode. Items come in the order of priority, so calls for one run of equal modes
// after the other keep it.
void WaveRun::submit(Session& session, Part& part) {
  std::vector<size_t> alike;
  const auto flush = [&] {
    submitAlike(session, part, alike);
    alike.clear();
  };
  const auto batch = session.engine().allocateBatch(part.items.size());
  if (batch) part.batch = *batch;
  for (const size_t item : part.items) {
    if (!batch) fail(item, batch.error());
    if (transfers_[item].failed) continue;
    if (!alike.empty() && entryOf(alike.front()).mode != entryOf(item).mode) flush();
    alike.push_back(item);
  }
  flush();
}

void WaveRun::submitAlike(Session& session, Part& part, std::span<const size_t> items) {
  std::vector<size_t> left(items.begin(), items.end());
  std::vector<Request> requests;
  requests.reserve(left.size());
  for (const size_t item : left) requests.push_back(requestOf(session, item));
  // All or nothing is the rule of a call, not of a file: what is refused (a deadline that has just passed, a buffer
  // that has gone) is left out, and the rest submitted again.
  while (!left.empty()) {
    const auto submitted = session.engine().submit(*part.batch, requests, entryOf(left.front()).mode);
    if (submitted) {
      part.tasks.insert(part.tasks.end(), left.begin(), left.end());
      return;
    }
    const SubmitFailure& failure = submitted.error();
    const bool one = failure.failed > 0 && failure.failed < left.size() && failure.error.index >= 0;
    if (!one) {
      for (const size_t item : left) fail(item, failure.error);
      return;
    }
    fail(left[static_cast<size_t>(failure.error.index)], failure.error);
    left.erase(left.begin() + failure.error.index);
    requests.erase(requests.begin() + failure.error.index);
  }
}

Request WaveRun::requestOf(Session& session, size_t item) {
  Entry& entry = entryOf(item);
  Request request;
  // The vector was judged, so its layout is good.
  requestFieldsOf(entry.vector, request.fields);
  request.fields.target_offset = entry.address;
  if (request.fields.deadline.kind == DeadlineInput::Kind::kBudget) {
    // Files carry budgets, which become a time once, when they are submitted. What is printed is of the first time.
    const uint64_t now_ns = monotonicNowNs();
    if (items_[item].repetition == 0) entry.now_ns = now_ns;
    const auto deadline_ns = deadlineAfter(now_ns, request.fields.deadline.ns);
    // What is no deadline stays a budget, and is refused in its turn.
    if (deadline_ns) request.fields.deadline = {DeadlineInput::Kind::kAbsolute, *deadline_ns};
  }
  request.source = transfers_[item].memory.data();
  request.target = session.segment(*entry.peer);
  return request;
}

WaveRun::End WaveRun::await() {
  End end = End::kAll;
  for (const auto& [session, part] : parts_) {
    if (part.batch && end == End::kAll) end = awaitPart(*session, part);
  }
  if (end == End::kAll) return end;
  cancel();
  if (end == End::kTimeout) return end;
  uint64_t settle_until_ns = monotonicNowNs() + kSettleNs;
  if (const auto deadline_ns = options_.clock->deadline()) settle_until_ns = std::min(settle_until_ns, *deadline_ns);
  for (const auto& [session, part] : parts_) {
    const uint64_t now_ns = monotonicNowNs();
    // What has not ended by then is told so by its state.
    if (part.batch) (void)session->engine().wait(*part.batch, settle_until_ns > now_ns ? settle_until_ns - now_ns : 0);
  }
  return end;
}

WaveRun::End WaveRun::awaitPart(Session& session, const Part& part) const {
  const auto fd = session.engine().batchFd(*part.batch);
  std::array<pollfd, 2> fds{{{fd.value_or(-1), POLLIN, 0}, {interruptFd(), POLLIN, 0}}};
  for (;;) {
    const auto ended = session.engine().wait(*part.batch, 0);
    if (!ended || *ended) return End::kAll;
    if (interrupted()) return End::kInterrupted;
    // Without a descriptor for the batch its state is asked for every now and then.
    int timeout_ms = fd ? -1 : 10;
    if (const auto deadline_ns = options_.clock->deadline()) {
      const uint64_t now_ns = monotonicNowNs();
      if (now_ns >= *deadline_ns) return End::kTimeout;
      constexpr uint64_t kLongestMs = 3'600'000;
      const uint64_t left_ms = std::min((*deadline_ns - now_ns) / 1'000'000 + 1, kLongestMs);
      timeout_ms = fd ? static_cast<int>(left_ms) : timeout_ms;
    }
    if (poll(fds.data(), fds.size(), timeout_ms) < 0 && errno != EINTR) return End::kTimeout;
  }
}

void WaveRun::cancel() {
  for (const auto& [session, part] : parts_) {
    for (size_t task = 0; task < part.tasks.size(); ++task) session->engine().cancel(*part.batch, task);
  }
}

void WaveRun::collect(Session& session, const Part& part, End end) {
  for (size_t task = 0; task < part.tasks.size(); ++task) {
    const size_t item = part.tasks[task];
    auto report = session.engine().taskReport(*part.batch, task);
    if (!report) {
      fail(item, report.error());
      continue;
    }
    outcomes_[item].report = *std::move(report);
    judge(item, end);
  }
}

// From the state of a task to the status of its transfer.
void WaveRun::judge(size_t item, End end) {
  const TaskReport& report = outcomes_[item].report;
  const TaskState state = report.status.state;
  const bool stopped = end != End::kAll && (!isTerminal(state) || state == TaskState::kCanceled);
  if (stopped && end == End::kTimeout) {
    return setOutcome(item, ExecutionStatus::kTimeout, errorOf(Reason::kTimeout, "it had not ended within --timeout"));
  }
  if (stopped) {
    return setOutcome(item, ExecutionStatus::kCanceled, errorOf(Reason::kCanceled, "the run was interrupted"));
  }
  if (state != TaskState::kCompleted) {
    return setOutcome(item,
                      state == TaskState::kCanceled  ? ExecutionStatus::kCanceled
                      : state == TaskState::kTimeout ? ExecutionStatus::kTimeout
                                                     : ExecutionStatus::kFailed,
                      report.error);
  }
  const Transport carrier = report.carriedBy();
  const bool any = options_.required == Transport::kUnspec || carrier == Transport::kUnspec;
  if (any || carrier == options_.required) return setOutcome(item, ExecutionStatus::kCompleted, {});
  const Attempt& first = report.attempts[0];
  setOutcome(item, ExecutionStatus::kFailed,
             errorOf(first.reason, fmt::format("{} failed, and {} carried it, which --require does not allow",
                                               nameOf(first.transport), nameOf(carrier))));
}

// A peer of which nothing came, for reasons that are its own, is not asked again: each time might take as long.
void WaveRun::noteLostPeer() {
  const bool gone = std::all_of(outcomes_.begin(), outcomes_.end(), [](const Outcome& outcome) {
    const Reason reason = outcome.error.reason;
    return outcome.status != ExecutionStatus::kCompleted &&
           (reason == Reason::kPeerLost || reason == Reason::kPeerUnreachable || reason == Reason::kStaleSegment ||
            reason == Reason::kTimeout);
  });
  if (gone) lost_peer_ = outcomes_.front().error;
}

}  // namespace tent::tool
