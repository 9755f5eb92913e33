#include "engine/staging_pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <asio/post.hpp>

#include "base/clock.h"
#include "base/units.h"

namespace tent {

StagingPool::~StagingPool() {
  // What it has not freed by then, the memory's owner does.
  if (freeing_ != nullptr) freeing_->stop();
}

void StagingPool::ask(Request& request) {
  if (request.wanted.chunk_bytes > limits_.pool_bytes) {
    request.refused = errorOf(
        Reason::kResourceExhausted,
        fmt::format("a chunk of {} is more than the {} that this engine lends for staging (staging.buffers times "
                    "staging.chunk_size): set staging.chunk_size to less there, or to more here",
                    formatSize(request.wanted.chunk_bytes), formatSize(limits_.pool_bytes)));
    return;
  }
  waiting_.push_back(&request);
}

void StagingPool::withdraw(Request& request) {
  std::erase(waiting_, &request);
  nobodyWaits();
}

// Who was asked may keep what it has, when nobody waits for it any more.
void StagingPool::nobodyWaits() {
  if (!waiting_.empty()) return;
  for (const auto& lease : leases_) lease->asked_ns = 0;
}

Error StagingPool::waitedTooLong() const {
  return errorOf(Reason::kResourceExhausted,
                 fmt::format("the {} that this engine lends for staging were in use by {} others for {}: try again "
                             "later, or raise staging.buffers here",
                             formatSize(limits_.pool_bytes), leases_.size(), formatDuration(limits_.times.wait_ns)));
}

// Chunks that one of those who hold or want some may have.
uint64_t StagingPool::shareOf(const StageOpen& wanted) const {
  const uint64_t parties = std::max<uint64_t>(2, leases_.size() + waiting_.size());
  return std::max<uint64_t>(1, limits_.pool_bytes / wanted.chunk_bytes / parties);
}

Error StagingPool::lend(Request& request, uint64_t count, uint64_t now_ns) {
  try {
    if (freeing_ == nullptr) freeing_ = std::make_unique<Loop>("tent-freeing");
  } catch (const std::system_error& failure) {
    return errorOf(Reason::kResourceExhausted, fmt::format("staging needs a thread: {} (ulimit -u)", failure.what()));
  }
  const uint64_t bytes = count * request.wanted.chunk_bytes;
  auto buffer = memory_.lend(bytes);
  if (!buffer) return std::move(buffer.error());
  auto lease = std::make_shared<Lease>();
  lease->lent = {++last_lease_, count, *std::move(buffer)};
  lease->since_ns = lease->heard_ns = now_ns;
  lent_bytes_ += bytes;
  leases_.push_back(lease);
  request.lease = std::move(lease);
  return {};
}

bool StagingPool::grant(Request& request, uint64_t now_ns) {
  const uint64_t room = (limits_.pool_bytes - lent_bytes_) / request.wanted.chunk_bytes;
  const uint64_t count = std::min({request.wanted.wanted, shareOf(request.wanted), room});
  if (count == 0) return false;
  request.refused = lend(request, count, now_ns);
  return true;
}

void StagingPool::serve(uint64_t now_ns) {
  while (!waiting_.empty() && grant(*waiting_.front(), now_ns)) {
    Request* const request = waiting_.front();
    waiting_.pop_front();
    request->answered();
  }
  nobodyWaits();
  if (waiting_.empty() || leases_.empty()) return;
  Lease& oldest = *leases_.front();
  if (!wantedBack(oldest, now_ns) || now_ns - oldest.asked_ns < limits_.times.patience_ns) return;
  end(oldest);
}

bool StagingPool::wantedBack(Lease& lease, uint64_t now_ns) {
  if (waiting_.empty() || leases_.empty() || leases_.front().get() != &lease) return false;
  if (now_ns - lease.since_ns < limits_.times.turn_ns) return false;
  if (lease.asked_ns == 0) lease.asked_ns = now_ns;
  return true;
}

void StagingPool::end(Lease& lease) {
  if (std::exchange(lease.ended, true)) return;
  const uint64_t base = lease.lent.buffer.memory.base;
  const uint64_t bytes = lease.lent.buffer.memory.length;
  std::erase_if(leases_, [&lease](const auto& held) { return held.get() == &lease; });
  asio::post(freeing_->context(), [this, base, bytes] {
    memory_.takeBack(base);
    asio::post(loop_.context(), [this, bytes] { freed(bytes); });
  });
}

void StagingPool::freed(uint64_t bytes) {
  lent_bytes_ -= bytes;
  serve(monotonicNowNs());
}

}  // namespace tent
