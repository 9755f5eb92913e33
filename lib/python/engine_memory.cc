// The TransferEngine class of Python: memory.
#include "python/engine.h"

#include <algorithm>
#include <vector>

#include <pybind11/stl.h>

#include "python/casters.h"

namespace tent::python {
namespace {

namespace py = pybind11;

std::vector<void*> pointersOf(const std::vector<Unsigned>& addresses) {
  std::vector<void*> pointers(addresses.size());
  std::transform(addresses.begin(), addresses.end(), pointers.begin(), pointerOf);
  return pointers;
}

std::vector<size_t> sizesOf(const std::vector<Unsigned>& numbers) {
  std::vector<size_t> sizes(numbers.size());
  std::transform(numbers.begin(), numbers.end(), sizes.begin(), [](Unsigned number) { return number.value; });
  return sizes;
}

void bindAllocation(EngineClass& engine) {
  engine
      .def(
          "allocate_local_memory",
          [](EngineHandle& self, Unsigned size, const Text& location) {
            return addressOf(resultOf<void*>(self, "allocate_local_memory", [&](TransferEngine& on, void*& address) {
              return on.allocateLocalMemory(&address, size.value, location.value);
            }));
          },
          "Zeroed memory that is registered; its address. Peers on this machine map it.", py::arg("size"),
          py::arg("location") = Text{"*"})
      .def(
          "allocate_local_memory_ex",
          [](EngineHandle& self, Unsigned size, const MemoryOptions& options) {
            return addressOf(resultOf<void*>(self, "allocate_local_memory_ex", [&](TransferEngine& on, void*& address) {
              return on.allocateLocalMemory(&address, size.value, options);
            }));
          },
          "The same, with options.", py::arg("size"), py::arg("options"))
      .def(
          "free_local_memory",
          [](EngineHandle& self, Unsigned address) {
            self.run("free_local_memory", [&](TransferEngine& on) { return on.freeLocalMemory(pointerOf(address)); });
          },
          "Gives allocated memory back. Refused while transfers from or to it are in flight.", py::arg("addr"));
}

void bindRegistration(EngineClass& engine) {
  engine
      .def(
          "register_local_memory",
          [](EngineHandle& self, Unsigned address, Unsigned size, Permission permission) {
            self.run("register_local_memory", [&](TransferEngine& on) {
              return on.registerLocalMemory(pointerOf(address), size.value, permission);
            });
          },
          "Registers memory of this process, which must stay mapped until it is unregistered.", py::arg("addr"),
          py::arg("size"), py::arg("permission") = kGlobalReadWrite)
      .def(
          "register_local_memory_ex",
          [](EngineHandle& self, Unsigned address, Unsigned size, const MemoryOptions& options) {
            self.run("register_local_memory_ex", [&](TransferEngine& on) {
              return on.registerLocalMemory(pointerOf(address), size.value, options);
            });
          },
          "The same, with options.", py::arg("addr"), py::arg("size"), py::arg("options"))
      .def(
          "unregister_local_memory",
          [](EngineHandle& self, Unsigned address, Unsigned size) {
            self.run("unregister_local_memory",
                     [&](TransferEngine& on) { return on.unregisterLocalMemory(pointerOf(address), size.value); });
          },
          "`size` 0: what was registered at the address.", py::arg("addr"), py::arg("size") = Unsigned{0})
      .def(
          "register_local_memory_batch",
          [](EngineHandle& self, const std::vector<Unsigned>& addresses, const std::vector<Unsigned>& sizes,
             Permission permission) {
            self.run("register_local_memory_batch", [&](TransferEngine& on) {
              return on.registerLocalMemory(pointersOf(addresses), sizesOf(sizes), permission);
            });
          },
          "Registers several pieces of memory, all or nothing.", py::arg("addr_list"), py::arg("size_list"),
          py::arg("permission") = kGlobalReadWrite)
      .def(
          "register_local_memory_batch_ex",
          [](EngineHandle& self, const std::vector<Unsigned>& addresses, const std::vector<Unsigned>& sizes,
             const MemoryOptions& options) {
            self.run("register_local_memory_batch_ex", [&](TransferEngine& on) {
              return on.registerLocalMemory(pointersOf(addresses), sizesOf(sizes), options);
            });
          },
          "The same, with options.", py::arg("addr_list"), py::arg("size_list"), py::arg("options"))
      .def(
          "unregister_local_memory_batch",
          [](EngineHandle& self, const std::vector<Unsigned>& addresses, const std::vector<Unsigned>& sizes) {
            self.run("unregister_local_memory_batch", [&](TransferEngine& on) {
              return on.unregisterLocalMemory(pointersOf(addresses), sizesOf(sizes));
            });
          },
          "All or nothing. No sizes: what was registered at the addresses.", py::arg("addr_list"),
          py::arg("size_list") = std::vector<Unsigned>{});
}

}  // namespace

void bindMemory(EngineClass& engine) {
  bindAllocation(engine);
  bindRegistration(engine);
}

}  // namespace tent::python
