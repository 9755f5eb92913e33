#include "python/buffer.h"

#include <string>
#include <string_view>

namespace tent::python {
namespace {

namespace py = pybind11;

std::string typeOf(const py::object& object) {
  return Py_TYPE(object.ptr())->tp_name;
}

// Whether a format of PEP 3118 has an item that is a Python object. Names of fields stand between colons.
bool hasObjects(std::string_view format) {
  bool in_name = false;
  for (const char c : format) {
    if (c == ':') in_name = !in_name;
    if (c == 'O' && !in_name) return true;
  }
  return false;
}

}  // namespace

Buffer::Buffer(const py::object& object, bool writable) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) {
    throw py::type_error("a " + typeOf(object) +
                         " has no memory to transfer: give a bytearray, a memoryview, a "
                         "numpy array, a tent.Local or a tent.Remote");
  }
  // Asked for in its own shape first, so that what is wrong with it can be told.
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_FULL_RO) != 0) throw py::error_already_set();
  const char* wrong = nullptr;
  if (PyBuffer_IsContiguous(&view_, 'C') == 0) {
    wrong = "is not C-contiguous: transfer a copy of it, or its rows one by one";
  } else if (writable && view_.readonly != 0) {
    wrong = "is read-only and cannot be the destination: give a bytearray or a writable array";
  }
  if (wrong != nullptr) {
    PyBuffer_Release(&view_);
    PyErr_SetString(PyExc_BufferError, ("this " + typeOf(object) + " " + wrong).c_str());
    throw py::error_already_set();
  }
  if (view_.format != nullptr && hasObjects(view_.format)) {
    PyBuffer_Release(&view_);
    throw py::type_error("this " + typeOf(object) + " holds Python objects, whose addresses mean nothing elsewhere");
  }
}

Buffer::~Buffer() {
  release();
}

void Buffer::release() {
  PyBuffer_Release(&view_);  // does nothing the second time
}

void bindBuffer(py::module_& module) {
  py::class_<Buffer>(module, "Buffer", "The memory of an object with the buffer protocol, held until release().")
      .def(py::init<const py::object&, bool>(), py::arg("object"), py::arg("writable"))
      .def_property_readonly("address", &Buffer::address)
      .def_property_readonly("length", &Buffer::length)
      .def("release", &Buffer::release, "Lets go of the object. May be called again.");
}

}  // namespace tent::python
