// The regions that a target serves, looked up by address, with who is using them: what the backends share that copy on
// behalf of peers.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include <tl/expected.hpp>

#include "base/error.h"
#include "transport/backend.h"

namespace tent {

// For whoever stops because the use is withdrawn().
inline Error beingUnregistered() {
  return {Reason::kOutOfRange, Field::kTargetOffset, -1, {}, "the target is unregistering this memory"};
}

class RegionTable {
 public:
  // Use of a region for as long as it lives: remove() waits for it.
  class Use;

  void add(const Region& region);

  // No new use begins; waits at most `timeout_ns` for those that are going on, and says whether they have ended.
  bool remove(uint64_t id, uint64_t timeout_ns);

  // The use of the region that holds `length` bytes from `address` and allows `access`. Errors: out_of_range,
  // permission_denied; also where it is memory of the application that is not mapped, or not for this, at present. No
  // address of this process is in their texts. `region`: the low half of the id of the region that is meant, so that
  // what was meant for one that has gone never reaches another that lies there now; 0: whichever lies there.
  tl::expected<Use, Error> use(uint64_t address, uint64_t length, Access access, uint32_t region = 0);

 private:
  struct Entry {
    Region region;
    uint32_t uses = 0;
    std::atomic<bool> withdrawn{false};
  };
  tl::expected<Use, Error> hold(uint64_t address, uint64_t length, Access access, uint32_t region);
  void end(Entry& entry);

  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<uint64_t, std::shared_ptr<Entry>> by_base_;  // disjoint: the engine sees to that
};

class RegionTable::Use {
 public:
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  Use(Use&& other) noexcept : table_(other.table_), entry_(std::move(other.entry_)) {}
  Use& operator=(Use&&) = delete;
  ~Use() {
    if (entry_ != nullptr) table_->end(*entry_);
  }

  uint64_t regionId() const { return entry_->region.id; }
  // Whether remove() waits for its end: who uses the region for long looks between pieces of bounded time, and stops.
  bool withdrawn() const { return entry_->withdrawn.load(std::memory_order_relaxed); }

 private:
  friend class RegionTable;
  Use(RegionTable& table, std::shared_ptr<Entry> entry) : table_(&table), entry_(std::move(entry)) {}

  RegionTable* table_;
  std::shared_ptr<Entry> entry_;
};

}  // namespace tent
