// How values get from Python to C++ and back: strictly. An enumeration's argument is a member of that enumeration, a
// number is an int and no bool, a text is a str. Everything else is a TypeError that says what was expected.
//
// What a value means is not looked at here: the library decides that, for every language.
#pragma once

#include <cstdint>
#include <string>

#include <pybind11/pybind11.h>

#include "python/names.h"
#include "tent/types.h"

namespace tent::python {

// Arguments of these types are converted strictly, unlike those of the built-in ones.
struct Unsigned {
  uint64_t value = 0;
};
struct Signed32 {
  int32_t value = 0;
};
struct Text {
  std::string value;
};

// Addresses are ints in Python.
inline void* pointerOf(Unsigned address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address.value));
}
inline Unsigned addressOf(const void* pointer) {
  return {reinterpret_cast<uintptr_t>(pointer)};
}

// TypeError for what is no int; OverflowError for one that the type cannot hold.
uint64_t unsignedOf(pybind11::handle source);
int32_t signed32Of(pybind11::handle source);
// TypeError for what is no str, ValueError for one that UTF-8 cannot express.
std::string textOf(pybind11::handle source);

}  // namespace tent::python

namespace pybind11::detail {

#define TENT_ENUM_CASTER(Type, kName)                                                                          \
  template <>                                                                                                  \
  struct type_caster<tent::Type> {                                                                             \
    PYBIND11_TYPE_CASTER(tent::Type, const_name("tent." #kName));                                              \
    bool load(handle source, bool) {                                                                           \
      value = static_cast<tent::Type>(tent::python::numberOf(source, tent::python::EnumType::k##kName));       \
      return true;                                                                                             \
    }                                                                                                          \
    static handle cast(tent::Type member, return_value_policy, handle) {                                       \
      return tent::python::memberOf(static_cast<int32_t>(member), tent::python::EnumType::k##kName).release(); \
    }                                                                                                          \
  }

TENT_ENUM_CASTER(Request::OpCode, OpCode);
TENT_ENUM_CASTER(TransferStatusEnum, TransferStatusEnum);
TENT_ENUM_CASTER(Permission, Permission);
TENT_ENUM_CASTER(TransportType, TransportType);
TENT_ENUM_CASTER(IntentType, IntentType);
TENT_ENUM_CASTER(RequestedPriority, RequestedPriority);
TENT_ENUM_CASTER(ValidationMode, ValidationMode);
TENT_ENUM_CASTER(SegmentInfo::Type, SegmentInfoType);

#undef TENT_ENUM_CASTER

template <>
struct type_caster<tent::python::Unsigned> {
  PYBIND11_TYPE_CASTER(tent::python::Unsigned, const_name("int"));
  bool load(handle source, bool) {
    value.value = tent::python::unsignedOf(source);
    return true;
  }
  static handle cast(tent::python::Unsigned number, return_value_policy, handle) {
    return PyLong_FromUnsignedLongLong(number.value);
  }
};

template <>
struct type_caster<tent::python::Signed32> {
  PYBIND11_TYPE_CASTER(tent::python::Signed32, const_name("int"));
  bool load(handle source, bool) {
    value.value = tent::python::signed32Of(source);
    return true;
  }
  static handle cast(tent::python::Signed32 number, return_value_policy, handle) {
    return PyLong_FromLong(number.value);
  }
};

template <>
struct type_caster<tent::python::Text> {
  PYBIND11_TYPE_CASTER(tent::python::Text, const_name("str"));
  bool load(handle source, bool) {
    value.value = tent::python::textOf(source);
    return true;
  }
  static handle cast(const tent::python::Text& text, return_value_policy, handle) {
    // What peers send need not be UTF-8.
    return PyUnicode_DecodeUTF8(text.value.data(), static_cast<Py_ssize_t>(text.value.size()), "replace");
  }
};

}  // namespace pybind11::detail
