#include "transport/fake/fake_link.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sys/socket.h>

#include "base/clock.h"

namespace tent {
namespace {

using fake::Io;

Error lost(Io how) {
  return errorOf(Reason::kPeerLost, how == Io::kStalled ? "fake: the peer stands still" : "fake: the peer hung up");
}

}  // namespace

FakeLink::FakeLink(std::shared_ptr<FakeShared> shared, const fake::Address& address,
                   std::shared_ptr<LinkObserver> observer)
    : shared_(std::move(shared)), address_(address), observer_(std::move(observer)), late_(observer_) {}

void FakeLink::start() {
  {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->threads;
  }
  std::thread([self = shared_from_this()]() mutable {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    self->serve();
    const std::shared_ptr<FakeShared> shared = self->shared_;
    self.reset();
    const std::lock_guard lock(shared->mutex);
    --shared->threads;
    shared->changed.notify_all();
  }).detach();
}

void FakeLink::submit(std::span<const Transfer> transfers) {
  uint64_t refused = 0;
  {
    const std::lock_guard lock(mutex_);
    pending_ += transfers.size();
    for (const Transfer& transfer : transfers) {
      const auto fate = shared_->script->submitted(transfer);
      if (!ended_) queue_.push_back({transfer, fate});
    }
    if (ended_) refused = transfers.size();
    changed_.notify_all();
  }
  if (refused == 0) return;
  for (const Transfer& transfer : transfers) report(transfer, {why_, Aftermath::kUntouched, false});
  reported(refused);
}

bool FakeLink::cancel(uint64_t token) {
  Transfer taken;
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(queue_.begin(), queue_.end(), [token](const Job& job) { return job.transfer.token == token; });
    if (found == queue_.end()) return false;
    if (found == queue_.begin()) front_canceled_ = true;
    taken = found->transfer;
    queue_.erase(found);
  }
  shared_->script->wake();
  report(taken, {errorOf(Reason::kCanceled, {}), Aftermath::kUntouched, false});
  reported(1);
  return true;
}

Error FakeLink::waitReady(uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, boundedWait(timeout_ns), [this] { return ready_ || ended_; });
  if (ended_) return why_;
  return ready_ ? Error{} : errorOf(Reason::kTimeout, "fake: the link is still being opened");
}

void FakeLink::close(const Error& why) {
  end(why);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !moving_; });
}

void FakeLink::end(const Error& why) {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
    why_ = why;
    dropped.swap(queue_);
    if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
    changed_.notify_all();
  }
  shared_->script->wake();
  for (const Job& job : dropped) report(job.transfer, {why, Aftermath::kUntouched, false});
  reported(dropped.size());
}

// ---- the thread

void FakeLink::serve() {
  const Error error = connect();
  if (error) return end(error);
  while (true) {
    FakeScript::Fate fate;
    {
      std::unique_lock lock(mutex_);
      ready_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return ended_ || !queue_.empty(); });
      if (ended_) return;
      fate = queue_.front().fate;
      front_canceled_ = false;
    }
    const auto taken_back = [this] { return ended_ || front_canceled_; };
    if (fate.kind == FakeScript::Fate::Kind::kHold && !shared_->script->waitReleased(taken_back)) continue;
    Job job;
    {
      const std::lock_guard lock(mutex_);
      if (taken_back()) continue;
      job = queue_.front();
      queue_.pop_front();
      moving_ = true;
    }
    carryOut(job);
  }
}

Error FakeLink::connect() {
  if (shared_->script->refusesConnections()) return errorOf(Reason::kPeerUnreachable, "fake: refused by the script");
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errorOf(Reason::kIoError, "fake: socket: " + std::generic_category().message(errno));
  fake::limitStalls(socket.get(), shared_->stall_timeout_ns);
  const fake::SocketAddress address(address_.name);
  if (::connect(socket.get(), address.get(), address.length) != 0) {
    return errorOf(Reason::kPeerUnreachable, "fake: connect: " + std::generic_category().message(errno));
  }
  if (!fake::sameUser(socket.get())) return errorOf(Reason::kAuthFailed, "fake: the peer is another user's");
  const int fd = socket.get();
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return why_;
    socket_ = std::move(socket);
  }
  const fake::Hello hello{address_.ticket};
  fake::Verdict verdict;
  if (fake::sendAll(fd, &hello, sizeof(hello)) != Io::kDone ||
      fake::receiveAll(fd, &verdict, sizeof(verdict)) != Io::kDone) {
    return errorOf(Reason::kPeerUnreachable, "fake: the peer does not answer");
  }
  return verdict.reason == Reason::kNone ? Error{} : errorOf(verdict.reason, "fake: the peer refused the ticket");
}

void FakeLink::carryOut(const Job& job) {
  using Kind = FakeScript::Fate::Kind;
  Result result;
  if (job.fate.kind == Kind::kCloseLink) {
    result = {errorOf(job.fate.reason, "fake: by the script"), Aftermath::kUntouched, true};
  } else {
    const bool fails = job.fate.kind == Kind::kFail;
    result = move(job.transfer, fails ? std::min(job.fate.bytes, job.transfer.length) : job.transfer.length);
    if (fails && !result.error) {
      result = {errorOf(job.fate.reason, "fake: by the script"), job.fate.aftermath, false};
    }
  }
  {
    const std::lock_guard lock(mutex_);
    moving_ = false;
    if (ended_ && result.error) result.error = why_;
    changed_.notify_all();
  }
  if (result.ends_link) end(result.error);  // which is known before the first report of it
  report(job.transfer, result);
  reported(1);
}

FakeLink::Result FakeLink::move(const Transfer& transfer, uint64_t bytes) {
  if (bytes == 0) return {};
  Result result = exchange(transfer, bytes);
  if (!result.error) {
    (transfer.direction == Direction::kRead ? shared_->read_bytes : shared_->written_bytes) += bytes;
  }
  return result;
}

FakeLink::Result FakeLink::exchange(const Transfer& transfer, uint64_t bytes) {
  const int fd = socket_.get();
  const auto failed = [](Io how, Aftermath aftermath) { return Result{lost(how), aftermath, true}; };
  const uint32_t region = transfer.region == nullptr ? 0 : static_cast<uint32_t>(transfer.region->id);
  const fake::Request request{transfer.direction, region, transfer.remote_address, bytes};
  fake::Verdict verdict;
  Io io = fake::sendAll(fd, &request, sizeof(request));
  if (io == Io::kDone) io = fake::receiveAll(fd, &verdict, sizeof(verdict));
  if (io != Io::kDone) return failed(io, Aftermath::kUntouched);
  if (verdict.reason != Reason::kNone) {
    return {errorOf(verdict.reason, "fake: refused by the target"), Aftermath::kUntouched, false};
  }
  if (transfer.direction == Direction::kRead) {
    io = fake::receiveAll(fd, transfer.local, bytes);
    return io == Io::kDone ? Result{} : failed(io, Aftermath::kSettled);
  }
  io = fake::sendAll(fd, transfer.local, bytes);
  if (io == Io::kDone) io = fake::receiveAll(fd, &verdict, sizeof(verdict));
  // What was sent lies in the peer's socket. Once it has hung up nothing of that can be applied any more, but whether
  // it was the peer that hung up or this end is not known here.
  return io == Io::kDone ? Result{} : failed(io, Aftermath::kUnsettled);
}

// ---- reports

void FakeLink::report(const Transfer& transfer, const Result& result) {
  Completion completion;
  completion.token = transfer.token;
  if (result.error) {
    completion.reason = result.error.reason;
    completion.aftermath = result.aftermath;
    completion.detail = result.error.detail;
  }
  // observer_ changes only while pending_ is 0.
  if (observer_ != nullptr) return observer_->completed(std::move(completion));
  if (const std::shared_ptr<LinkObserver> late = late_.lock()) late->completed(std::move(completion));
}

void FakeLink::reported(uint64_t count) {
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

}  // namespace tent
