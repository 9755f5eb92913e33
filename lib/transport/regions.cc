#include "transport/regions.h"

#include <chrono>

#include "transport/mapped_memory.h"

namespace tent {
namespace {

tl::unexpected<Error> refused(Reason reason, const char* why) {
  return tl::unexpected(Error{reason, Field::kTargetOffset, -1, {}, why});
}

}  // namespace

void RegionTable::add(const Region& region) {
  auto entry = std::make_shared<Entry>();
  entry->region = region;
  const std::lock_guard lock(mutex_);
  by_base_[reinterpret_cast<uintptr_t>(region.base)] = std::move(entry);
}

bool RegionTable::remove(uint64_t id, uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Entry> entry;
  for (auto it = by_base_.begin(); it != by_base_.end(); ++it) {
    if (it->second->region.id != id) continue;
    entry = std::move(it->second);
    by_base_.erase(it);
    break;
  }
  if (entry == nullptr) return true;
  entry->withdrawn.store(true, std::memory_order_relaxed);
  return ended_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [&] { return entry->uses == 0; });
}

tl::expected<RegionTable::Use, Error> RegionTable::use(uint64_t address, uint64_t length, Access access,
                                                       uint32_t region) {
  auto use = hold(address, length, access, region);
  if (!use || use->entry_->region.shared != nullptr) return use;
  // Without the lock: the region cannot go away while it is used.
  const auto* const memory = reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (!isMapped(memory, length)) {
    return refused(Reason::kOutOfRange, "the application of the target has registered this memory, but not mapped it");
  }
  // It may have got the right since: some reserve memory first and give it its pages later.
  if (access > use->entry_->region.own_access && access > accessOfRange(memory, length)) {
    return refused(Reason::kPermissionDenied, "the target's process itself may not use this memory so");
  }
  return use;
}

tl::expected<RegionTable::Use, Error> RegionTable::hold(uint64_t address, uint64_t length, Access access,
                                                        uint32_t region) {
  const std::lock_guard lock(mutex_);
  auto after = by_base_.upper_bound(address);
  if (after == by_base_.begin()) return refused(Reason::kOutOfRange, "no registered memory holds the range");
  const std::shared_ptr<Entry>& entry = std::prev(after)->second;
  const uint64_t offset = address - std::prev(after)->first;
  if (offset >= entry->region.length || length > entry->region.length - offset) {
    return refused(Reason::kOutOfRange, "no registered memory holds the range");
  }
  if (region != 0 && region != static_cast<uint32_t>(entry->region.id)) {
    return refused(Reason::kOutOfRange, "the memory that is meant is registered no more");
  }
  if (access > entry->region.access) {
    return refused(Reason::kPermissionDenied, entry->region.access == Access::kNone
                                                  ? "the target keeps this memory to itself"
                                                  : "the target lets peers only read this memory");
  }
  ++entry->uses;
  return Use(*this, entry);
}

void RegionTable::end(Entry& entry) {
  {
    const std::lock_guard lock(mutex_);
    --entry.uses;
  }
  ended_.notify_all();
}

}  // namespace tent
