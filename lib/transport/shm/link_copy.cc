// How the transfers of a link are copied: at once within submit, and in pieces by whoever is free.
#include "transport/shm/link_state.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <asio/post.hpp>

#include "transport/checked_copy.h"

namespace tent::shm {
namespace {

// Of a copy that can be shared by threads, and after which the end of the link is noticed.
constexpr uint64_t kPieceBytes = 4u << 20;

bool overlap(const Transfer& transfer) {
  const uint64_t local = reinterpret_cast<uintptr_t>(transfer.local);
  return local < transfer.remote_address + transfer.length && transfer.remote_address < local + transfer.length;
}

}  // namespace

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
  auto* const in_self = reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  std::byte* const there = peer.isSelf() ? in_self : grant.terms.mapping->data() + (address - grant.terms.base);
  const bool read = transfer.direction == Direction::kRead;
  std::byte* const to = read ? local : there;
  const std::byte* const from = read ? there : local;
  // What an application of this process registered as a target may be unmapped too.
  const bool all_mapped = transfer.local_mapped && grant.terms.mapping != nullptr;
  uint64_t moved = length;
  if (!all_mapped) {
    moved = peer.isSelf() && overlap(transfer) ? moveUnknown(to, from, length) : copyToUnknown(to, from, length);
  } else if (peer.isSelf()) {
    // The memory itself, not a second mapping of it: only so can ranges that overlap be told.
    std::memmove(to, from, length);
  } else {
    std::memcpy(to, from, length);
  }
  const int error = errno;
  shared_->count(transfer.direction, moved);
  return moved == length ? Error{} : uncopied(moved, error);
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

}  // namespace tent::shm
