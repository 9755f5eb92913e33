// The three hops of a chunk of a staged transfer.
#include <utility>

#include <fmt/format.h>
#include <asio/post.hpp>

#include "engine/peer.h"
#include "engine/staged_transfers.h"

namespace tent {

void StagedTransfers::hop(StagedChunk& chunk) {
  StagedFlow& flow = *chunk.flow;
  const auto next = chunk.nextHop();
  if (flow.failure || !next) return chunkEnded(chunk);
  const bool write = flow.write();
  switch (*next) {
    case StagedChunk::Hop::kHere:
      chunk.copy = StagingCopy(write ? StagingCopy::Into::kBuffer : StagingCopy::Into::kMemory,
                               flow.task->transfer.local + chunk.offset, chunk.memory->data(), chunk.length,
                               !flow.task->transfer.local_mapped);
      if (!write) flow.touched = true;
      return copyHere(chunk);
    case StagedChunk::Hop::kOver: return sendOver(chunk);
    case StagedChunk::Hop::kThere: return copyThere(chunk);
  }
}

void StagedTransfers::hopEnded(StagedChunk& chunk) {
  ++chunk.hops_done;
  hop(chunk);
}

void StagedTransfers::copyHere(StagedChunk& chunk) {
  switch (chunk.copy.step()) {
    case StagingCopy::Step::kDone: return hopEnded(chunk);
    case StagingCopy::Step::kMore: asio::post(loop_.context(), [this, &chunk] { copyHere(chunk); }); return;
    case StagingCopy::Step::kNotMapped: break;
  }
  fail(*chunk.flow, Reason::kIoError, "the local memory of the request is not mapped, or not for this access");
  chunkEnded(chunk);
}

void StagedTransfers::copyThere(StagedChunk& chunk) {
  StagedFlow& flow = *chunk.flow;
  StageCopy copy;
  copy.lease = chunk.lent->lease;
  copy.offset = chunk.lent_offset;
  copy.address = flow.task->transfer.remote_address + chunk.offset;
  copy.length = chunk.length;
  copy.direction = flow.task->transfer.direction;
  flow.peer->channel->copy(copy, [this, &chunk](const Error& error) {
    StagedFlow& its = *chunk.flow;
    const bool refused = StagingChannel::isRefusal(error);
    if (its.write() && !refused) (error ? its.unsettled : its.touched) = true;
    if (!error) return hopEnded(chunk);
    fail(its, error.reason, error.detail);
    chunkEnded(chunk);
  });
}

void StagedTransfers::sendOver(StagedChunk& chunk) {
  const Task& whole = *chunk.flow->task;
  Task& task = chunk.task;
  task.transfer = {};
  task.transfer.direction = whole.transfer.direction;
  task.transfer.local = chunk.memory->data();
  task.transfer.length = chunk.length;
  task.transfer.remote_address = chunk.lent->buffer.memory.base + chunk.lent_offset;
  task.priority = whole.priority;
  task.buffer = &chunk.lent->buffer;
  task.attempt_count = 0;
  // The place of the whole in the order of dispatch is that of its first chunk.
  if (whole.dispatch_order == 0) chunk.flow->task->dispatch_order = host_.nextDispatchOrder();
  task.dispatch_order = whole.dispatch_order;
  chunk.with_lane = true;
  Task* const one = &task;
  whole.peer->lane(chunk.flow->transport)->push({&one, 1});
}

void StagedTransfers::wireEnded(Task& chunk_task, const Completion& completion) {
  asio::post(loop_.context(), [this, chunk = chunk_task.chunk, completion] {
    chunk->with_lane = false;
    if (completion.reason == Reason::kNone) return hopEnded(*chunk);
    StagedFlow& flow = *chunk->flow;
    StagingChannel& channel = *flow.peer->channel;
    // What may still be written there must not be another chunk's by then.
    if (completion.aftermath == Aftermath::kUnsettled) channel.markForReturn();
    if (completion.reason == Reason::kOutOfRange || completion.reason == Reason::kPermissionDenied) {
      channel.markForReturn();
      fail(flow, Reason::kPeerLost, "the peer has taken its staging buffers back: submit it again");
    } else {
      fail(flow, completion.reason, completion.detail);
    }
    chunkEnded(*chunk);
  });
}

void StagedTransfers::chunkEnded(StagedChunk& chunk) {
  const bool arrived = !chunk.nextHop();
  StagedFlow& flow = *std::exchange(chunk.flow, nullptr);
  StagedPeer& peer = *flow.peer;
  if (arrived) flow.arrived_bytes += chunk.length;
  peer.channel->putBack(chunk.lent, chunk.lent_offset);
  chunk.lent = nullptr;
  free_.push_back(&chunk);
  --flow.under_way;
  --peer.under_way;
  pumpSoon();
  endIfDone(flow);
}

}  // namespace tent
