// tent._tent: the C++ API for Python. What users see is the package "tent" around it (lib/python/tent).
#include "python/buffer.h"
#include "python/engine.h"
#include "python/names.h"
#include "python/values.h"
#include "tent/transfer_engine.h"

PYBIND11_MODULE(_tent, module) {
  module.doc() = "The C++ API of TENT; use it through the package tent.";
  tent::python::importNames();
  module.attr("LOCAL_SEGMENT_ID") = LOCAL_SEGMENT_ID;
  tent::python::bindValues(module);
  tent::python::bindBuffer(module);
  tent::python::bindEngine(module);
}
