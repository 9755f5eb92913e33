// Memory that other processes may map: a memfd, sealed against shrinking and growing before anybody else sees it, so
// that no mapping of it can ever fault.
//
// Thread safety: immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <tl/expected.hpp>

#include "base/error.h"
#include "base/fd.h"

namespace tent {

class SharedMemory {
 public:
  // `bytes` (at least 1) of zeros, mapped for reading and writing here, at a page boundary. `writable_by_peers` false:
  // the kernel lets nobody but this mapping write it (F_SEAL_FUTURE_WRITE). resource_exhausted: also where all memory
  // and swap that this process could get (base/host_memory.h) would not hold it.
  static tl::expected<std::unique_ptr<SharedMemory>, Error> allocate(uint64_t bytes, bool writable_by_peers);

  // Maps what a peer passed, and closes `fd`. Refuses what is not sealed against shrinking or is shorter than `bytes`:
  // io_error.
  static tl::expected<std::unique_ptr<SharedMemory>, Error> map(Fd fd, uint64_t bytes, bool writable);

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }  // bytes, as asked for
  int fd() const { return fd_.get(); }     // owned here; -1 of a peer's memory

 private:
  SharedMemory(Fd fd, std::byte* data, uint64_t size) : fd_(std::move(fd)), data_(data), size_(size) {}

  Fd fd_;
  std::byte* data_;
  uint64_t size_;
};

}  // namespace tent
