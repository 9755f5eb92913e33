// The process with the target, started with fork and exec; killed with the object. Thread safety: none.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include "base/fd.h"
#include "conformance/backends.h"
#include "transport/backend.h"

namespace tent::conformance {

class TargetProcess {
 public:
  TargetProcess(const Kind& kind, const Limits& limits);
  ~TargetProcess();
  TargetProcess(const TargetProcess&) = delete;
  TargetProcess& operator=(const TargetProcess&) = delete;

  // One command (target_main.cc) and its answer; fails the test when the process has ended.
  std::string ask(const std::string& command);

  RemoteRegion memory(uint64_t bytes, Access access);
  void unregister(const RemoteRegion& region);
  std::string answer(const std::string& offer);
  void fill(const RemoteRegion& region, uint64_t seed);
  uint64_t checksum(uint64_t address, uint64_t bytes);
  Traffic traffic();

  void stop();  // SIGSTOP; returns when it stands still
  void resume();
  void kill();  // SIGKILL; returns when it is gone

 private:
  const Kind kind_;
  pid_t pid_ = 0;
  Fd commands_;
};

}  // namespace tent::conformance
