// The memory of an object with the buffer protocol (bytes, bytearray, memoryview, numpy.ndarray, ...), held: while this
// lives the object cannot be resized or freed.
#pragma once

#include <cstdint>

#include <pybind11/pybind11.h>

namespace tent::python {

class Buffer {
 public:
  // TypeError: it has no buffer, or one of Python objects. BufferError: its bytes do not lie in one piece, or
  // `writable` and they cannot be written to.
  Buffer(const pybind11::object& object, bool writable);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint64_t address() const { return reinterpret_cast<uintptr_t>(view_.buf); }
  uint64_t length() const { return static_cast<uint64_t>(view_.len); }
  // Lets go of the object. May be called again.
  void release();

 private:
  Py_buffer view_{};
};

void bindBuffer(pybind11::module_& module);

}  // namespace tent::python
