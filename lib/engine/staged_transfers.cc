// Which chunk is begun when, and how attempts begin and end. The hops of a chunk are in staged_hops.cc.
#include "engine/staged_transfers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <asio/post.hpp>

#include "base/clock.h"
#include "engine/peer.h"

namespace tent {
namespace {

// After which what is not used is given back. Until then the next transfer finds its buffers.
constexpr uint64_t kIdleNs = 1'000'000'000;

}  // namespace

StagedTransfers::StagedTransfers(LaneHost& host, Loop& control_loop, std::shared_ptr<const ControlSecurity> security,
                                 const StagingSetup& setup)
    : host_(host),
      control_loop_(control_loop),
      security_(std::move(security)),
      setup_(setup),
      loop_("tent-staging"),
      clean_up_(loop_.context()) {}

StagedTransfers::~StagedTransfers() {
  loop_.stop();
}

// ---- what others call

void StagedTransfers::push(Task& task, Transport transport) {
  {
    const std::lock_guard lock(mutex_);
    ++untold_;
  }
  asio::post(loop_.context(), [this, &task, transport] { begin(task, transport); });
}

void StagedTransfers::lookForCanceled() {
  asio::post(loop_.context(), [this] {
    std::vector<StagedFlow*> canceled;
    for (const auto& peer : peers_) {
      for (const auto& flow : peer->flows) {
        if (flow->task->cancel_wanted.load(std::memory_order_relaxed) && !flow->allBegun()) {
          canceled.push_back(flow.get());
        }
      }
    }
    for (StagedFlow* flow : canceled) fail(*flow, Reason::kCanceled, "");
  });
}

void StagedTransfers::forget(const Peer& peer) {
  asio::post(loop_.context(),
             [this, key = &peer] { std::erase_if(peers_, [key](const auto& known) { return known->key == key; }); });
}

void StagedTransfers::shutDown(const Error& why) {
  asio::post(loop_.context(), [this, why] {
    shut_down_ = why;
    for (const auto& peer : peers_) {
      peer->channel->close();
      failAll(*peer, why);
    }
  });
}

void StagedTransfers::waitIdle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return untold_ == 0; });
}

void StagedTransfers::told() {
  const std::lock_guard lock(mutex_);
  if (--untold_ == 0) idle_.notify_all();
}

// ---- the beginning of an attempt

StagedPeer& StagedTransfers::peerOf(const Task& task) {
  const auto found =
      std::find_if(peers_.begin(), peers_.end(), [&](const auto& peer) { return peer->key == task.peer.get(); });
  if (found != peers_.end()) return **found;
  auto peer = std::make_unique<StagedPeer>();
  peer->key = task.peer.get();
  peer->channel = std::make_shared<StagingChannel>(
      loop_, std::make_unique<ControlClient>(control_loop_, task.peer->name(), task.peer->endpoints(), security_),
      setup_.control_timeout_ns, setup_.wait_ns);
  return *peers_.emplace_back(std::move(peer));
}

void StagedTransfers::begin(Task& task, Transport transport) {
  StagedPeer& peer = peerOf(task);
  peer.idle_since_ns = 0;
  StagedFlow& flow = *peer.flows.emplace_back(std::make_unique<StagedFlow>());
  flow.task = &task;
  flow.transport = transport;
  flow.peer = &peer;
  peer.waiting[static_cast<size_t>(task.priority)].push_back(&flow);
  if (shut_down_) return fail(flow, shut_down_.reason, shut_down_.detail);
  pump();
}

void StagedTransfers::beginAttempt(StagedFlow& flow) {
  if (std::exchange(flow.attempt_begun, true)) return;
  Task& task = *flow.task;
  Attempt& attempt = task.attempts[task.attempt_count++];
  attempt.transport = flow.transport;
  attempt.staged = true;
  task.attempt_open = true;
  task.attempt_incident = task.peer->health(flow.transport).incident();
}

// ---- scheduling

void StagedTransfers::pumpSoon() {
  if (std::exchange(pump_posted_, true)) return;
  asio::post(loop_.context(), [this] {
    pump_posted_ = false;
    pump();
  });
}

void StagedTransfers::pump() {
  bool begun = true;
  while (begun) {
    begun = false;
    for (size_t i = 0; i < peers_.size(); ++i) begun |= beginChunk(*peers_[(first_ + i) % peers_.size()]);
    ++first_;
  }
}

bool StagedTransfers::beginChunk(StagedPeer& peer) {
  StagingChannel& channel = *peer.channel;
  if (channel.lent() != nullptr && channel.mustReturn()) {
    if (peer.under_way > 0) return false;
    channel.giveBack();
  }
  StagedFlow* const flow = peer.firstWaiting();
  if (flow == nullptr || channel.isAsked()) return false;
  if (channel.lent() == nullptr) {
    askForLease(peer, *flow);
    return false;
  }
  if (channel.lent()->buffer.regionFor(flow->transport) == nullptr) {
    fail(*flow, Reason::kPeerUnreachable,
         fmt::format("the peer does not serve its staging buffers over {}", nameOf(flow->transport)));
    return true;
  }
  const std::optional<uint64_t> lent_offset = channel.take();
  if (!lent_offset) return false;
  Error none_left;
  StagedChunk* const chunk = takeBuffer(none_left);
  if (chunk == nullptr) {
    channel.putBack(channel.lent(), *lent_offset);
    if (none_left) fail(*flow, none_left.reason, none_left.detail);
    return none_left.reason != Reason::kNone;
  }
  beginAttempt(*flow);
  chunk->flow = flow;
  chunk->lent = channel.lent();
  chunk->lent_offset = *lent_offset;
  chunk->offset = flow->begun_bytes;
  chunk->length = std::min(setup_.chunk_bytes, flow->task->transfer.length - flow->begun_bytes);
  chunk->hops_done = 0;
  flow->begun_bytes += chunk->length;
  ++flow->under_way;
  ++peer.under_way;
  peer.nextTurn(*flow);
  hop(*chunk);
  return true;
}

void StagedTransfers::askForLease(StagedPeer& peer, const StagedFlow& flow) {
  const StageOpen wanted{setup_.chunk_bytes, std::max<uint32_t>(1, setup_.buffers / 2)};
  const Task& task = *flow.task;
  peer.channel->ask(wanted, task.view->description.instance, task.peer->name(), [this, &peer](const Error& error) {
    if (error) failAll(peer, error);
    pump();
  });
}

// nullptr: all are in use, or there is no memory and nothing to wait for, which is told.
StagedChunk* StagedTransfers::takeBuffer(Error& error) {
  if (free_.empty() && chunks_.size() < setup_.buffers) {
    auto memory = SharedMemory::allocate(setup_.chunk_bytes, false);
    if (memory) {
      auto chunk = std::make_unique<StagedChunk>();
      chunk->memory = *std::move(memory);
      chunk->task.chunk = chunk.get();
      free_.push_back(chunk.get());
      chunks_.push_back(std::move(chunk));
    } else if (chunks_.empty()) {
      error = std::move(memory.error());
    }
  }
  if (free_.empty()) return nullptr;
  StagedChunk* const chunk = free_.back();
  free_.pop_back();
  return chunk;
}

// ---- ends

void StagedTransfers::fail(StagedFlow& flow, Reason reason, const std::string& detail) {
  if (flow.failure) return;  // it ends already
  flow.failure = errorOf(reason, detail);
  flow.peer->dropWaiting(flow);
  if (reason != Reason::kCanceled) beginAttempt(flow);
  for (const auto& chunk : chunks_) {
    if (chunk->flow == &flow && chunk->with_lane) flow.task->peer->lane(flow.transport)->cancel(chunk->task);
  }
  endIfDone(flow);
}

void StagedTransfers::failAll(StagedPeer& peer, const Error& why) {
  std::vector<StagedFlow*> flows;
  for (const auto& flow : peer.flows) flows.push_back(flow.get());
  for (StagedFlow* flow : flows) fail(*flow, why.reason, why.detail);
}

void StagedTransfers::endIfDone(StagedFlow& flow) {
  Task& task = *flow.task;
  if (flow.under_way > 0 || (!flow.failure && flow.arrived_bytes < task.transfer.length)) return;
  Completion completion;
  if (flow.failure) {
    completion.reason = flow.failure.reason;
    completion.detail = std::move(flow.failure.detail);
    completion.aftermath = flow.unsettled ? Aftermath::kUnsettled
                           : flow.touched ? Aftermath::kSettled
                                          : Aftermath::kUntouched;
  }
  StagedPeer& peer = *flow.peer;
  std::erase_if(peer.flows, [&flow](const auto& known) { return known.get() == &flow; });
  if (peer.flows.empty()) peer.idle_since_ns = monotonicNowNs();
  cleanUpLater();
  host_.attemptEnded(task, completion);
  told();
}

void StagedTransfers::cleanUpLater() {
  if (std::exchange(cleans_up_, true)) return;
  clean_up_.expires_after(std::chrono::nanoseconds(kIdleNs));
  clean_up_.async_wait([this](const std::error_code& /*never canceled*/) { cleanUp(); });
}

void StagedTransfers::cleanUp() {
  cleans_up_ = false;
  const uint64_t now_ns = monotonicNowNs();
  // With its connection a peer's lease ends.
  std::erase_if(peers_, [now_ns](const auto& peer) {
    return peer->idle_since_ns != 0 && now_ns - peer->idle_since_ns >= kIdleNs;
  });
  if (!peers_.empty()) return cleanUpLater();
  free_.clear();
  chunks_.clear();
}

}  // namespace tent
