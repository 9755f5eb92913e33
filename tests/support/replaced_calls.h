// Other system calls for as long as it lives. Thread safety: made and destroyed while no other thread makes calls.
#pragma once

#include "base/system_calls.h"

namespace tent {

class ReplacedCalls {
 public:
  ReplacedCalls() : saved_(systemCalls()) {}
  ReplacedCalls(const ReplacedCalls&) = delete;
  ReplacedCalls& operator=(const ReplacedCalls&) = delete;
  ~ReplacedCalls() { systemCalls() = saved_; }

 private:
  SystemCalls saved_;
};

}  // namespace tent
