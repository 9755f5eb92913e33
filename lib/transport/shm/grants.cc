#include "transport/shm/grants.h"

#include <utility>

namespace tent::shm {
namespace {

constexpr size_t kMaxGrants = 1024;

Error refused(Reason reason, const char* why) {
  return Error{reason, Field::kTargetOffset, -1, {}, why};
}

}  // namespace

Error Grant::check(const Transfer& transfer) const {
  const uint64_t offset = transfer.remote_address - terms.base;
  if (transfer.remote_address < terms.base || offset >= terms.length || transfer.length > terms.length - offset) {
    return refused(Reason::kOutOfRange, "no registered memory holds the range");
  }
  if (terms.access == Access::kNone)
    return refused(Reason::kPermissionDenied, "the target keeps this memory to itself");
  if (transfer.direction == Direction::kWrite && terms.access != Access::kReadWrite) {
    return refused(Reason::kPermissionDenied, "the target lets peers only read this memory");
  }
  return {};
}

std::shared_ptr<Grant> Grants::find(uint64_t id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  found->second->last_use = ++clock_;
  return found->second;
}

std::shared_ptr<Grant> Grants::add(uint64_t id) {
  if (by_id_.size() >= kMaxGrants) evict();
  auto grant = std::make_shared<Grant>();
  grant->id = id;
  grant->last_use = ++clock_;
  by_id_[id] = grant;
  return grant;
}

std::shared_ptr<Grant> Grants::take(uint64_t id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  std::shared_ptr<Grant> grant = std::move(found->second);
  by_id_.erase(found);
  return grant;
}

void Grants::evict() {
  auto oldest = by_id_.end();
  for (auto it = by_id_.begin(); it != by_id_.end(); ++it) {
    // Held here alone: neither asked for, nor queued for, nor copied from or to.
    if (it->second.use_count() > 1 || !it->second->given) continue;
    if (oldest == by_id_.end() || it->second->last_use < oldest->second->last_use) oldest = it;
  }
  if (oldest != by_id_.end()) by_id_.erase(oldest);
}

tl::expected<Terms, Error> termsOf(const Frame& frame, Fd passed, bool passed_lost) {
  if (frame.type != FrameType::kRegion) {
    return tl::unexpected(static_cast<Reason>(frame.value) == Reason::kPermissionDenied
                              ? refused(Reason::kPermissionDenied, "the target keeps this memory to itself")
                              : refused(Reason::kOutOfRange, "the region is no longer registered"));
  }
  if (frame.value > static_cast<uint32_t>(Access::kReadWrite) || frame.length == 0 ||
      frame.base + frame.length < frame.base) {
    return tl::unexpected(errorOf(Reason::kIoError, "shm: the peer describes a region that makes no sense"));
  }
  if (passed_lost) {
    return tl::unexpected(
        errorOf(Reason::kResourceExhausted,
                "shm: no descriptor is left for the peer's memory: raise the limit of this process (ulimit -n)"));
  }
  Terms terms;
  terms.base = frame.base;
  terms.length = frame.length;
  terms.access = static_cast<Access>(frame.value);
  if (passed) {
    auto mapping = SharedMemory::map(std::move(passed), frame.length, terms.access == Access::kReadWrite);
    if (!mapping) return tl::unexpected(mapping.error());
    terms.mapping = std::move(*mapping);
  }
  return terms;
}

}  // namespace tent::shm
