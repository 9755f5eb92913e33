// A TransferEngine as Python holds one: its calls run without the interpreter's lock, and a child of fork(), which must
// not use it, is told so instead of hanging.
#pragma once

#include <cstdint>
#include <string>

#include <pybind11/pybind11.h>

#include "python/names.h"
#include "tent/engine.h"

namespace tent::python {

class EngineHandle {
 public:
  EngineHandle();
  explicit EngineHandle(const std::string& config);
  ~EngineHandle();
  EngineHandle(const EngineHandle&) = delete;
  EngineHandle& operator=(const EngineHandle&) = delete;

  // RuntimeError in a child of the process that made it.
  TransferEngine& get();
  void close();
  bool belongsHere() const;

  // Calls `call(engine)` without the lock and raises what it returns, where that is not ok.
  template <typename Call>
  void run(const char* where, const Call& call) {
    TransferEngine& engine = get();
    Status status;
    {
      const pybind11::gil_scoped_release released;
      status = call(engine);
    }
    if (!status.ok()) fail(status, where);
  }
  // Raises `status`; where the engine never came to life, why it did not.
  [[noreturn]] void fail(const Status& status, const char* where);

 private:
  uint64_t made_in_;        // which process, as counted by forks
  TransferEngine* engine_;  // owned; a child leaks it
};

}  // namespace tent::python
