#include "transport/shm/link_state.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <asio/post.hpp>

namespace tent::shm {
namespace {

// Of a copy that can be shared by threads, and after which the end of the link is noticed.
constexpr uint64_t kPieceBytes = 4u << 20;

constexpr uint64_t kLongestWaitNs = 365ull * 24 * 3600 * 1'000'000'000;

bool overlap(const Transfer& transfer) {
  const uint64_t local = reinterpret_cast<uintptr_t>(transfer.local);
  return local < transfer.remote_address + transfer.length && transfer.remote_address < local + transfer.length;
}

}  // namespace

LinkState::LinkState(std::shared_ptr<LinkShared> shared, std::shared_ptr<LinkObserver> observer)
    : shared_(std::move(shared)), observer_(std::move(observer)), late_(observer_) {}

void LinkState::start(std::shared_ptr<Session> session) {
  session_ = std::move(session);
  asio::post(shared_->loop.context(), [self = shared_from_this(), session = session_] { session->start(self); });
}

// ---- taking transfers

void LinkState::submit(std::span<const Transfer> transfers) {
  {
    const std::lock_guard lock(mutex_);
    pending_ += transfers.size();
  }
  uint64_t inline_left = shared_->inline_bytes;
  uint64_t inline_count = 0;
  Jobs failed;
  for (const Transfer& transfer : transfers) {
    if (transfer.length <= inline_left) {
      inline_left -= transfer.length;
      if (copyInline(transfer)) {
        ++inline_count;
        continue;
      }
    } else {
      inline_left = 0;
    }
    auto job = std::make_shared<Job>();
    job->transfer = transfer;
    const std::lock_guard lock(mutex_);
    routeLocked(std::move(job), failed);
  }
  reportFailed(failed);
  reported(inline_count);
}

bool LinkState::copyInline(const Transfer& transfer) {
  std::shared_ptr<Grant> grant;
  Error error;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      error = why_;
    } else {
      if (peer_ == nullptr) return false;
      grant = grants_.find(transfer.region->id);
      if (grant == nullptr || !grant->given) return false;
      error = checkLocked(*grant, transfer);
      if (!error) {
        ++grant->users;
        ++copying_;
      }
    }
  }
  if (error) {
    report(transfer, error, Aftermath::kUntouched);
    return true;
  }
  error = copy(*grant, transfer, 0, transfer.length);
  const bool lost = error.reason == Reason::kPeerLost;
  {
    const std::lock_guard lock(mutex_);
    endCopyLocked(*grant);
    // The end of the link may be that of the peer, whose mapped memory outlives it.
    if (ended_) error = why_;
  }
  if (lost) end(error);  // which is known before the first report of it
  report(transfer, error, Aftermath::kSettled);
  return true;
}

Error LinkState::checkLocked(const Grant& grant, const Transfer& transfer) const {
  Error error = grant.check(transfer);
  if (error || grant.terms.mapping != nullptr) return error;
  return peer_->copyRefusal();
}

void LinkState::routeLocked(std::shared_ptr<Job> job, Jobs& failed) {
  if (ended_) {
    job->error = why_;
    failed.push_back(std::move(job));
    return;
  }
  if (peer_ == nullptr) {
    unrouted_.push_back(std::move(job));
    return;
  }
  const uint64_t id = job->transfer.region->id;
  std::shared_ptr<Grant> grant = grants_.find(id);
  if (grant != nullptr && grant->given) {
    job->grant = std::move(grant);
    queueLocked(std::move(job), failed);
    return;
  }
  if (grant == nullptr) {
    grant = grants_.add(id);
    asio::post(shared_->loop.context(), [session = session_, id] { session->fetch(id); });
  }
  grant->waiting.push_back(std::move(job));
}

void LinkState::queueLocked(std::shared_ptr<Job> job, Jobs& failed) {
  job->error = checkLocked(*job->grant, job->transfer);
  if (job->error) {
    failed.push_back(std::move(job));
    return;
  }
  job->queued = true;
  queue_.push_back(std::move(job));
  offerLocked();
}

void LinkState::offerLocked() {
  if (!std::exchange(offered_, true)) shared_->pool.offer(shared_from_this());
}

bool LinkState::cancel(uint64_t token) {
  std::shared_ptr<Job> taken;
  const auto take_from = [&](auto& jobs) {
    const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const std::shared_ptr<Job>& job) {
      return job->transfer.token == token && job->begun == 0;
    });
    if (taken != nullptr || found == jobs.end()) return;
    taken = std::move(*found);
    jobs.erase(found);
  };
  {
    const std::lock_guard lock(mutex_);
    take_from(unrouted_);
    take_from(queue_);
    grants_.forEach([&](Grant& grant) { take_from(grant.waiting); });
    if (taken == nullptr) return false;
  }
  taken->error = errorOf(Reason::kCanceled, {});
  reportFailed({taken});
  return true;
}

// ---- copying

Error LinkState::copy(const Grant& grant, const Transfer& transfer, uint64_t offset, uint64_t length) {
  // peer_ stays while copying_ is not 0.
  const PeerProcess& peer = *peer_;
  std::byte* const local = transfer.local + offset;
  const uint64_t address = transfer.remote_address + offset;
  if (!peer.isSelf() && grant.terms.mapping == nullptr) {
    uint64_t moved = 0;
    Error error = peer.copy(transfer.direction, local, address, length, moved);
    shared_->count(transfer.direction, moved);
    return error;
  }
  if (peer.isSelf()) {
    // The memory itself, not a second mapping of it: only so can ranges that overlap be told.
    auto* const remote = reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
    transfer.direction == Direction::kRead ? std::memmove(local, remote, length)
                                           : std::memmove(remote, local, length);
  } else {
    std::byte* const remote = grant.terms.mapping->data() + (address - grant.terms.base);
    transfer.direction == Direction::kRead ? std::memcpy(local, remote, length) : std::memcpy(remote, local, length);
  }
  shared_->count(transfer.direction, length);
  return {};
}

std::optional<LinkState::Piece> LinkState::takePieceLocked() {
  if (queue_.empty()) return std::nullopt;
  const std::shared_ptr<Job>& job = queue_.front();
  const uint64_t rest = job->transfer.length - job->begun;
  // Pieces of ranges that overlap would overwrite each other's source.
  const bool whole = peer_->isSelf() && overlap(job->transfer);
  Piece piece{job, job->begun, whole ? rest : std::min(rest, kPieceBytes)};
  job->begun += piece.length;
  ++job->copies;
  ++job->grant->users;
  ++copying_;
  if (job->begun == job->transfer.length) {
    job->queued = false;
    queue_.pop_front();
  }
  return piece;
}

void LinkState::run(const Piece& piece) {
  Job& job = *piece.job;
  const Error error = copy(*job.grant, job.transfer, piece.offset, piece.length);
  if (error.reason == Reason::kPeerLost) end(error);  // which is known before the first report of it
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    endCopyLocked(*job.grant);
    --job.copies;
    if (error && !job.error) {
      job.error = error;
      takeOutLocked(job);
    }
    last = job.copies == 0 && !job.queued;
    if (last && ended_) job.error = why_;
  }
  if (last) {
    report(job.transfer, job.error, Aftermath::kSettled);
    reported(1);
  }
}

void LinkState::endCopyLocked(Grant& grant) {
  --grant.users;
  --copying_;
  if (ended_) {
    if (copying_ > 0) return;
    peer_.reset();
    changed_.notify_all();
  } else if (grant.revoked && grant.users == 0) {
    asio::post(shared_->loop.context(), [session = session_, id = grant.id] { session->release(id); });
  }
}

void LinkState::takeOutLocked(Job& job) {
  if (!std::exchange(job.queued, false)) return;
  std::erase_if(queue_, [&](const std::shared_ptr<Job>& queued) { return queued.get() == &job; });
}

void LinkState::copyPiece() {
  std::optional<Piece> piece;
  {
    const std::lock_guard lock(mutex_);
    offered_ = false;
    piece = takePieceLocked();
    if (!queue_.empty()) offerLocked();
  }
  if (piece) run(*piece);
}

bool LinkState::progress() {
  std::optional<Piece> piece;
  {
    const std::lock_guard lock(mutex_);
    piece = takePieceLocked();
  }
  if (!piece) return false;
  run(*piece);
  return true;
}

// ---- what the peer says

void LinkState::ready(std::shared_ptr<const PeerProcess> peer) {
  Jobs failed;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    peer_ = std::move(peer);
    for (std::shared_ptr<Job>& job : std::exchange(unrouted_, {})) routeLocked(std::move(job), failed);
    changed_.notify_all();
  }
  reportFailed(failed);
}

void LinkState::fetched(const Frame& frame, Fd passed, bool passed_lost) {
  auto terms = termsOf(frame, std::move(passed), passed_lost);
  Jobs failed;
  {
    const std::lock_guard lock(mutex_);
    const std::shared_ptr<Grant> grant = grants_.find(frame.id);
    if (ended_ || grant == nullptr || grant->given) return;
    const Jobs waiting = std::exchange(grant->waiting, {});
    if (terms) {
      grant->terms = std::move(*terms);
      grant->given = true;
    } else {
      grants_.take(frame.id);
    }
    for (const std::shared_ptr<Job>& job : waiting) {
      if (terms) {
        job->grant = grant;
        queueLocked(job, failed);
      } else {
        job->error = terms.error();
        failed.push_back(job);
      }
    }
  }
  reportFailed(failed);
}

void LinkState::revoked(uint64_t id) {
  Jobs failed;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    const std::shared_ptr<Grant> grant = grants_.find(id);
    if (grant != nullptr && grant->given) {
      grant->revoked = true;
      grants_.take(id);
      dropLocked(*grant, Error{Reason::kOutOfRange, Field::kTargetOffset, -1, {}, "the region is no longer registered"},
                 failed);
    }
    if (grant == nullptr || grant->users == 0) session_->release(id);
  }
  reportFailed(failed);
}

void LinkState::dropLocked(const Grant& grant, const Error& why, Jobs& failed) {
  std::erase_if(queue_, [&](const std::shared_ptr<Job>& job) {
    if (job->grant.get() != &grant) return false;
    job->queued = false;
    job->error = why;
    if (job->copies == 0) failed.push_back(job);
    return true;
  });
}

// ---- the end

void LinkState::end(const Error& why) {
  Jobs failed;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
    why_ = why;
    failed.assign(unrouted_.begin(), unrouted_.end());
    unrouted_.clear();
    grants_.forEach([&](Grant& grant) {
      failed.insert(failed.end(), grant.waiting.begin(), grant.waiting.end());
      grant.waiting.clear();
    });
    grants_.clear();
    for (const std::shared_ptr<Job>& job : std::exchange(queue_, {})) {
      job->queued = false;
      if (job->copies == 0) failed.push_back(job);
    }
    for (const std::shared_ptr<Job>& job : failed) job->error = why;
    if (copying_ == 0) peer_.reset();
    changed_.notify_all();
    asio::post(shared_->loop.context(), [session = std::exchange(session_, nullptr)] { session->shut(); });
  }
  reportFailed(failed);
}

void LinkState::close(const Error& why) {
  end(why);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return copying_ == 0; });
}

void LinkState::report(const Transfer& transfer, const Error& error, Aftermath aftermath) {
  Completion completion;
  completion.token = transfer.token;
  if (error) {
    completion.reason = error.reason;
    completion.aftermath = aftermath;
    completion.detail = error.detail;
  }
  // observer_ changes only while pending_ is 0.
  if (observer_ != nullptr) return observer_->completed(std::move(completion));
  if (const std::shared_ptr<LinkObserver> late = late_.lock()) late->completed(std::move(completion));
}

void LinkState::reportFailed(const Jobs& jobs) {
  for (const std::shared_ptr<Job>& job : jobs) {
    report(job->transfer, job->error, job->begun > 0 ? Aftermath::kSettled : Aftermath::kUntouched);
  }
  reported(jobs.size());
}

void LinkState::reported(uint64_t count) {
  std::shared_ptr<LinkObserver> observer;
  {
    const std::lock_guard lock(mutex_);
    pending_ -= count;
    if (!ended_ || pending_ > 0 || end_told_) return;
    end_told_ = true;
    observer = std::move(observer_);
  }
  observer->closed(why_);
}

bool LinkState::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

Error LinkState::waitReady(uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  const bool known = changed_.wait_for(lock, std::chrono::nanoseconds(std::min(timeout_ns, kLongestWaitNs)),
                                       [this] { return ended_ || peer_ != nullptr; });
  if (ended_) return why_;
  return known ? Error{} : errorOf(Reason::kTimeout, "shm: the link is still being opened");
}

Error LinkState::reaches(const RemoteRegion& region) const {
  const std::lock_guard lock(mutex_);
  if (ended_) return why_;
  if (region.access == Access::kNone) {
    return Error{Reason::kPermissionDenied, Field::kTargetOffset, -1, {}, "the target keeps this memory to itself"};
  }
  return region.shared || peer_ == nullptr ? Error{} : peer_->copyRefusal();
}

}  // namespace tent::shm
