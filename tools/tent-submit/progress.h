// One line on standard error that says how far a run is; only where a person looks at it. Thread safety: all members
// from any thread.
#pragma once

#include <cstdint>
#include <mutex>

#include "tent-submit/job.h"

namespace tent::tool {

class Progress {
 public:
  explicit Progress(const Job& job);

  void add(uint64_t bytes);  // one more transfer has ended
  void show();               // a few times a second at most
  void clear();

 private:
  const bool enabled_;
  std::mutex mutex_;
  bool shown_ = false;
  uint64_t transfers_ = 0;
  uint64_t total_ = 0;
  uint64_t bytes_ = 0;
  uint64_t next_ns_ = 0;
};

}  // namespace tent::tool
