// The regions of one peer that this process was given, with their mappings; those not used for longest are let go of
// when there are many.
//
// Thread safety: none, guarded by the link's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "transport/backend.h"
#include "transport/shared_memory.h"
#include "transport/shm/wire.h"

namespace tent::shm {

struct Job;

// A region as the target describes it, which is what bounds and access are checked against.
struct Terms {
  uint64_t base = 0;  // in the peer's address space
  uint64_t length = 0;
  Access access = Access::kNone;
  std::unique_ptr<SharedMemory> mapping;  // none: memory of the peer's application
};
// From the target's answer to a fetch. Errors: what the target refused, or why its memory cannot be mapped.
tl::expected<Terms, Error> termsOf(const Frame& frame, Fd passed, bool passed_lost);

struct Grant {
  uint64_t id = 0;
  bool given = false;    // else asked for, and `waiting` waits
  bool revoked = false;  // by the target; nothing begins any more
  Terms terms;
  uint32_t users = 0;  // copies that are going on
  uint64_t last_use = 0;
  std::vector<std::shared_ptr<Job>> waiting;

  // Whether the target allows this: kNone, out_of_range, permission_denied.
  Error check(const Transfer& transfer) const;
};

class Grants {
 public:
  // nullptr: not known yet.
  std::shared_ptr<Grant> find(uint64_t id);
  std::shared_ptr<Grant> add(uint64_t id);
  // Takes it out of here; nullptr when it is not there.
  std::shared_ptr<Grant> take(uint64_t id);
  void clear() { by_id_.clear(); }
  size_t size() const { return by_id_.size(); }

  template <typename Visitor>
  void forEach(const Visitor& visitor) const {
    for (const auto& [id, grant] : by_id_) visitor(*grant);
  }

 private:
  void evict();

  std::unordered_map<uint64_t, std::shared_ptr<Grant>> by_id_;
  uint64_t clock_ = 0;
};

}  // namespace tent::shm
