#include "transport/shm/link_state.h"

#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "base/clock.h"

namespace tent::shm {

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
  const bool known = changed_.wait_for(lock, boundedWait(timeout_ns), [this] { return ended_ || peer_ != nullptr; });
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
