#include "python/names.h"

#include <array>
#include <string>
#include <vector>

namespace tent::python {
namespace {

namespace py = pybind11;

constexpr std::array kEnumNames{"OpCode",     "TransferStatusEnum", "Permission",     "TransportType",
                                "IntentType", "RequestedPriority",  "ValidationMode", "SegmentInfoType"};

struct Names {
  std::array<py::object, kEnumNames.size()> enums;
  py::object value;  // the name under which a member keeps its number
  py::object error_of;
};

// Never destroyed: the interpreter may be gone by then.
Names* names = nullptr;

py::handle enumOf(EnumType type) {
  return names->enums.at(static_cast<size_t>(type));
}

}  // namespace

void importNames() {
  auto* found = new Names;
  const py::module_ values = py::module_::import("tent._values");
  for (size_t i = 0; i < kEnumNames.size(); ++i) found->enums.at(i) = values.attr(kEnumNames.at(i));
  found->value = py::str("_value_");
  found->error_of = py::module_::import("tent._errors").attr("error_of");
  names = found;
}

int32_t numberOf(py::handle member, EnumType type) {
  const py::handle expected = enumOf(type);
  if (reinterpret_cast<PyObject*>(Py_TYPE(member.ptr())) != expected.ptr()) {
    const std::string name = kEnumNames.at(static_cast<size_t>(type));
    const std::string given = Py_TYPE(member.ptr())->tp_name;
    throw py::type_error("expected a tent." + name + ", not " + given + ": give one of its members");
  }
  return member.attr(names->value).cast<int32_t>();
}

py::object memberOf(int32_t number, EnumType type) {
  try {
    return enumOf(type)(number);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    return py::int_(number);
  }
}

void raise(const Status& status, const char* where) {
  const py::object error =
      names->error_of(where, status.codeName(), static_cast<int32_t>(status.code()), status.reasonName(),
                      status.fieldName(), status.index(), status.failing(),
                      py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
                          status.message().data(), static_cast<Py_ssize_t>(status.message().size()), "replace")));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace tent::python
