// The TransferEngine class of Python, by the names that its deployed callers use.
#pragma once

#include <pybind11/pybind11.h>

namespace tent::python {

void bindEngine(pybind11::module_& module);

}  // namespace tent::python
