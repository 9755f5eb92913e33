#include "engine/staging_guest.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "engine/staging_copy.h"

namespace tent {
namespace {

// How often one who waits looks after those who hold what it waits for.
constexpr uint64_t kLookAgainNs = 100'000'000;

Message leaseHasEnded() {
  return errorMessage(errorOf(Reason::kPeerLost,
                              "the staging buffers have been taken back: others waited for them, or nothing was heard "
                              "for too long; submit it again"));
}

std::byte* pointerTo(uint64_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): checked by whoever asks
}

}  // namespace

StagingGuest::StagingGuest(StagingPool& pool)
    : pool_(pool), turn_(pool.loop().context()), silence_(pool.loop().context()) {}

StagingGuest::~StagingGuest() {
  endLease();
}

void StagingGuest::leave() {
  left_ = true;
  turn_.cancel();
  silence_.cancel();
  endLease();
}

void StagingGuest::endLease() {
  if (lease_ != nullptr) pool_.end(*lease_);
  lease_ = nullptr;
}

asio::awaitable<Message> StagingGuest::answer(Message request) {
  const auto self = shared_from_this();
  const std::string type = request.at("type");
  Message reply;
  if (type == "stage_open") {
    const auto wanted = stageOpenOf(request);
    if (!wanted) co_return errorMessage(wanted.error());
    reply = co_await open(*wanted);
  } else if (type == "stage_copy") {
    const auto asked = stageCopyOf(request);
    if (!asked) co_return errorMessage(asked.error());
    reply = co_await copy(*asked);
  } else if (type == "stage_close") {
    reply = close(request);
  } else {
    reply = errorMessage(errorOf(Reason::kIoError, "this library does not know the type of the request"));
  }
  co_return reply;
}

asio::awaitable<Message> StagingGuest::open(StageOpen wanted) {
  endLease();
  StagingPool::Request request;
  request.wanted = wanted;
  request.answered = [this] { turn_.cancel(); };
  uint64_t now_ns = monotonicNowNs();
  const uint64_t until_ns = now_ns + pool_.limits().times.wait_ns;
  pool_.ask(request);
  pool_.serve(now_ns);
  const auto waits = [&] { return request.lease == nullptr && !request.refused && !left_ && now_ns < until_ns; };
  while (waits()) {
    turn_.expires_after(std::chrono::nanoseconds(std::min(kLookAgainNs, until_ns - now_ns)));
    std::error_code ignored;
    co_await turn_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    now_ns = monotonicNowNs();
    if (waits()) pool_.serve(now_ns);
  }
  pool_.withdraw(request);
  lease_ = std::move(request.lease);
  if (left_) endLease();
  if (lease_ == nullptr) co_return errorMessage(request.refused ? request.refused : pool_.waitedTooLong());
  endAfterSilence();
  co_return messageOf(lease_->lent);
}

// Waits for the end of the silence that there would be if nothing was heard any more.
void StagingGuest::endAfterSilence() {
  const uint64_t now_ns = monotonicNowNs();
  const uint64_t silent_at_ns = lease_->heard_ns + pool_.limits().times.silence_ns;
  if (now_ns >= silent_at_ns) return endLease();
  silence_.expires_after(std::chrono::nanoseconds(silent_at_ns - now_ns));
  silence_.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (!error && self != nullptr && self->lease_ != nullptr) self->endAfterSilence();
  });
}

asio::awaitable<Message> StagingGuest::copy(StageCopy copy) {
  const std::shared_ptr<StagingPool::Lease> lease = lease_;
  if (lease == nullptr || lease->ended || lease->lent.lease != copy.lease) co_return leaseHasEnded();
  const RemoteRegion& buffer = lease->lent.buffer.memory;
  if (copy.offset >= buffer.length || copy.length > buffer.length - copy.offset) {
    co_return errorMessage(errorOf(Reason::kIoError, "the staging copy goes beyond the buffers that were lent"));
  }
  const bool write = copy.direction == Direction::kWrite;
  const auto use = pool_.memory().use(copy.address, copy.length, write ? Access::kReadWrite : Access::kRead);
  if (!use) co_return errorMessage(use.error());
  StagingCopy steps(write ? StagingCopy::Into::kMemory : StagingCopy::Into::kBuffer, pointerTo(copy.address),
                    pointerTo(buffer.base + copy.offset), copy.length, false);
  while (steps.step() == StagingCopy::Step::kMore) {
    lease->heard_ns = monotonicNowNs();
    co_await asio::post(pool_.loop().context(), asio::use_awaitable);  // others in between
    // The memory at either end may go away between two pieces.
    if (lease->ended) co_return leaseHasEnded();
    if (use->withdrawn()) co_return errorMessage(errorOf(Reason::kIoError, beingUnregistered().detail));
  }
  const uint64_t now_ns = lease->heard_ns = monotonicNowNs();
  co_return stageCopied(copy.length, pool_.wantedBack(*lease, now_ns));
}

Message StagingGuest::close(const Message& request) {
  if (lease_ != nullptr && unsignedAt(request, "lease") == lease_->lent.lease) endLease();
  return {{"closed", true}};
}

}  // namespace tent
