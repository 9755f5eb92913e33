// Arrays of the caller as the engine's requests.
//
// Thread safety: a list belongs to one call; its memory is its thread's, so that a submit allocates nothing once the
// thread has submitted as much before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "engine/engine.h"
#include "tent/transfer_engine.h"

namespace tent::abi {

class RequestList {
 public:
  RequestList();
  ~RequestList();
  RequestList(const RequestList&) = delete;
  RequestList& operator=(const RequestList&) = delete;

  // Both read `count` entries, which are there. Each is copied out of the caller's memory once.
  void readLegacy(const tent_request_t* entries, size_t count);
  // What an entry's layout is wrong in becomes its request's turn in the order of errors. checkEntries has passed.
  void readV1(const void* entries, size_t count, size_t entry_stride, uint32_t schema_version,
              Surface surface = Surface::kV1);

  std::span<const Request> requests() const;

 private:
  struct Storage;
  Storage& storage_;
};

}  // namespace tent::abi
