// The TransferEngine class of Python, by the names that its deployed callers use.
#pragma once

#include <pybind11/pybind11.h>

#include "python/engine_handle.h"

namespace tent::python {

using EngineClass = pybind11::class_<EngineHandle>;

void bindEngine(pybind11::module_& module);

// Its parts, which bindEngine calls.
void bindMemory(EngineClass& engine);
void bindTransfers(EngineClass& engine);

// The value that `call(engine, value)` gives, or the exception of its status.
template <typename Value, typename Call>
Value resultOf(EngineHandle& self, const char* where, const Call& call) {
  Value value{};
  self.run(where, [&](TransferEngine& engine) { return call(engine, value); });
  return value;
}

}  // namespace tent::python
