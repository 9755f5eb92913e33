#include "python/casters.h"

#include <limits>
#include <stdexcept>

namespace tent::python {
namespace {

namespace py = pybind11;

[[noreturn]] void refuseType(py::handle source, const char* expected) {
  throw py::type_error(std::string("expected ") + expected + ", not " + Py_TYPE(source.ptr())->tp_name);
}

// An int, or an integer of numpy's; not what is one by inheritance, which bools and other enumerations may be.
py::int_ intOf(py::handle source) {
  if (PyLong_CheckExact(source.ptr())) return py::reinterpret_borrow<py::int_>(source);
  const bool enumerated = py::hasattr(source, "_value_");
  if (PyLong_Check(source.ptr()) || enumerated || !PyIndex_Check(source.ptr())) refuseType(source, "an int");
  return py::reinterpret_steal<py::int_>(PyNumber_Index(source.ptr()));
}

std::string textOfNumber(const py::int_& number) {
  return py::str(py::handle(number)).cast<std::string>();
}

}  // namespace

uint64_t unsignedOf(py::handle source) {
  const py::int_ number = intOf(source);
  const uint64_t value = PyLong_AsUnsignedLongLong(number.ptr());
  if (value == std::numeric_limits<uint64_t>::max() && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw std::overflow_error(textOfNumber(number) + " is not from 0 to 2**64 - 1");
  }
  return value;
}

int32_t signed32Of(py::handle source) {
  const py::int_ number = intOf(source);
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  using Limits = std::numeric_limits<int32_t>;
  if (overflow != 0 || value < Limits::min() || value > Limits::max()) {
    throw std::overflow_error(textOfNumber(number) + " is not from -2**31 to 2**31 - 1");
  }
  return static_cast<int32_t>(value);
}

std::string textOf(py::handle source) {
  if (!PyUnicode_Check(source.ptr())) refuseType(source, "a str");
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(source.ptr(), &size);
  if (text == nullptr) throw py::error_already_set();
  return {text, static_cast<size_t>(size)};
}

}  // namespace tent::python
