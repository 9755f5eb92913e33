// What a tcp backend has moved. Thread safety: atomics.
#pragma once

#include <atomic>
#include <cstdint>

namespace tent::tcp {

struct Counters {
  std::atomic<uint64_t> read_bytes{0};
  std::atomic<uint64_t> written_bytes{0};
  std::atomic<uint64_t> served_read_bytes{0};
  std::atomic<uint64_t> served_written_bytes{0};
};

}  // namespace tent::tcp
