// The target of a run without --peer: this program once more, as a second process that serves on a loopback address.
//
// It never outlives this process: it ends with its standard input, and is killed with the thread that started it, which
// must therefore be the main one. Thread safety: none.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/fd.h"
#include "config/engine_config.h"

namespace tent::tool {

class OwnTarget {
 public:
  // Waits until it serves, for a few seconds at most, or until this process is interrupted. The error is a sentence.
  // It takes whom the configuration takes, and lends the staging buffers that it says.
  static tl::expected<OwnTarget, std::string> start(uint64_t buffer_bytes, const EngineConfig& config);
  OwnTarget(const OwnTarget&) = delete;
  OwnTarget& operator=(const OwnTarget&) = delete;
  OwnTarget(OwnTarget&& other) noexcept;
  OwnTarget& operator=(OwnTarget&& other) noexcept;
  // Ends it: asks it to, then kills it; returns when it is gone.
  ~OwnTarget() { end(); }

  const std::string& address() const { return address_; }

 private:
  OwnTarget() = default;
  std::string awaitReady();
  void end();

  pid_t pid_ = 0;  // 0: none
  Fd input_;       // its standard input
  Fd output_;      // its standard output
  std::string address_;
};

}  // namespace tent::tool
