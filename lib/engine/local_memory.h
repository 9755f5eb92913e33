// The memory of this engine's own segment: what it allocated, and what the application registered, served by every
// backend. Beside it, what the engine lends to a peer: served in the same way, but no part of the segment.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <tl/expected.hpp>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/wire.h"
#include "transport/backend.h"
#include "transport/regions.h"
#include "transport/shared_memory.h"

namespace tent {

class LocalMemory {
 public:
  struct Server {
    Transport transport;
    Backend* backend;
  };
  // The backends outlive it.
  explicit LocalMemory(std::vector<Server> servers) : servers_(std::move(servers)) {}
  // Unregisters everything that is still there.
  ~LocalMemory();
  LocalMemory(const LocalMemory&) = delete;
  LocalMemory& operator=(const LocalMemory&) = delete;

  // As Engine's members of these names.
  tl::expected<void*, Error> allocate(uint64_t bytes, const MemoryOptions& options);
  // `in_use`: whether tasks from or to the range are in flight, which keeps it from being freed.
  using InUse = std::function<bool(uint64_t base, uint64_t length)>;
  Error free(void* address, const InUse& in_use = {});
  Error registerRange(void* address, uint64_t bytes, const MemoryOptions& options);
  Error unregisterRange(void* address, uint64_t bytes);

  // Where a range lies: the location it was registered with; plain host memory where it was not.
  struct Place {
    MemoryLocation location;
    bool registered = false;  // all of it, in one piece
    // Of what it was registered with.
    bool allocated = false;  // by this engine
    const std::byte* base = nullptr;
    uint64_t length = 0;
    Access own_access = Access::kNone;  // what this process could do with it when it was registered
  };
  Place placeOf(const void* address, uint64_t length) const;
  // What peers may know.
  std::map<uint64_t, PeerBuffer> describe() const;
  std::vector<BufferInfo> info() const;
  // Holds the range while it is read for a peer: out_of_range, permission_denied.
  tl::expected<RegionTable::Use, Error> use(uint64_t address, uint64_t length, Access access) {
    return table_.use(address, length, access);
  }

  // `bytes` of zeros for one peer, to which the result is told: nobody else learns of them, and use() does not find
  // them. resource_exhausted, registration_failed.
  tl::expected<PeerBuffer, Error> lend(uint64_t bytes);
  // Frees what was lent at this address, once no peer reaches it any more: blocks for seconds where one stands still.
  void takeBack(uint64_t base);

 private:
  struct Registration {
    uint64_t id = 0;
    uint64_t length = 0;
    MemoryOptions options;
    uint32_t count = 1;  // of registerRange; 1 for an allocation, until it is freed
    Access own_access = Access::kReadWrite;
    std::unique_ptr<SharedMemory> shared;
    std::map<Transport, std::string> keys;
  };
  using ByBase = std::map<uint64_t, Registration>;

  ByBase::const_iterator holding(uint64_t address) const;
  static PeerBuffer describe(uint64_t base, const Registration& registration);
  Error serve(Registration& registration, const Region& region);
  Error add(std::byte* address, uint64_t bytes, const MemoryOptions& options, Access own_access,
            std::unique_ptr<SharedMemory> shared);
  void withdraw(const Registration& registration);

  const std::vector<Server> servers_;
  mutable std::mutex mutex_;
  uint64_t next_id_ = 1;
  ByBase by_base_;  // disjoint
  ByBase lent_;
  RegionTable table_;
};

}  // namespace tent
