// Requests, and the other values that go in and out of an engine.
#pragma once

#include <pybind11/pybind11.h>

namespace tent::python {

void bindValues(pybind11::module_& module);

}  // namespace tent::python
