// What the extension uses of the pure Python half of the package: its enumerations and its exceptions.
//
// Thread safety: everything here needs the interpreter's lock.
#pragma once

#include <cstdint>

#include <pybind11/pybind11.h>

#include "tent/status.h"

namespace tent::python {

enum class EnumType : uint8_t {
  kOpCode,
  kTransferStatusEnum,
  kPermission,
  kTransportType,
  kIntentType,
  kRequestedPriority,
  kValidationMode,
  kSegmentInfoType,
};

// Imports tent._values and tent._errors. Once, before anything else here.
void importNames();

// The number of a member of just this enumeration. TypeError for everything else: a number, a bool, another's member.
int32_t numberOf(pybind11::handle member, EnumType type);
// The member of that number; where there is none, the number.
pybind11::object memberOf(int32_t number, EnumType type);

// Raises the exception of a status that is not ok; `where` names the call.
[[noreturn]] void raise(const Status& status, const char* where);

}  // namespace tent::python
