#include "python/engine.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "python/casters.h"
#include "python/engine_handle.h"

namespace tent::python {
namespace {

namespace py = pybind11;
using std::chrono::nanoseconds;

constexpr nanoseconds kSignalsLookedForEvery = std::chrono::milliseconds(50);

void* pointerOf(Unsigned address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address.value));
}

Unsigned addressOf(void* pointer) {
  return {reinterpret_cast<uintptr_t>(pointer)};
}

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

// The value that `call(engine, out)` gives.
template <typename Value, typename Call>
Value resultOf(EngineHandle& self, const char* where, const Call& call) {
  Value value{};
  self.run(where, [&](TransferEngine& engine) { return call(engine, value); });
  return value;
}

using Class = py::class_<EngineHandle>;

void bindSegments(Class& engine) {
  engine.def("get_segment_name", [](EngineHandle& self) { return Text{self.get().getSegmentName()}; })
      .def("get_rpc_server_address", [](EngineHandle& self) { return Text{self.get().getRpcServerAddress()}; })
      .def("get_rpc_server_port", [](EngineHandle& self) { return self.get().getRpcServerPort(); })
      .def(
          "open_segment",
          [](EngineHandle& self, const Text& name) {
            return resultOf<Unsigned>(self, "open_segment", [&](TransferEngine& on, Unsigned& handle) {
              return on.openSegment(handle.value, name.value);
            });
          },
          py::arg("segment_name"))
      .def(
          "close_segment",
          [](EngineHandle& self, Unsigned handle) {
            self.run("close_segment", [&](TransferEngine& on) { return on.closeSegment(handle.value); });
          },
          py::arg("handle"))
      .def(
          "get_segment_info",
          [](EngineHandle& self, Unsigned handle) {
            return resultOf<SegmentInfo>(self, "get_segment_info", [&](TransferEngine& on, SegmentInfo& info) {
              return on.getSegmentInfo(handle.value, info);
            });
          },
          py::arg("handle"))
      .def("get_nic_load_stats", [](EngineHandle& self) {
        return resultOf<std::vector<NicLoadStat>>(
            self, "get_nic_load_stats",
            [](TransferEngine& on, std::vector<NicLoadStat>& stats) { return on.getNicLoadStats(stats); });
      });
}

void bindAllocation(Class& engine) {
  engine
      .def(
          "allocate_local_memory",
          [](EngineHandle& self, Unsigned size, const Text& location) {
            return addressOf(resultOf<void*>(self, "allocate_local_memory", [&](TransferEngine& on, void*& address) {
              return on.allocateLocalMemory(&address, size.value, location.value);
            }));
          },
          py::arg("size"), py::arg("location") = Text{"*"})
      .def(
          "allocate_local_memory_ex",
          [](EngineHandle& self, Unsigned size, const MemoryOptions& options) {
            return addressOf(resultOf<void*>(self, "allocate_local_memory_ex", [&](TransferEngine& on, void*& address) {
              return on.allocateLocalMemory(&address, size.value, options);
            }));
          },
          py::arg("size"), py::arg("options"))
      .def(
          "free_local_memory",
          [](EngineHandle& self, Unsigned address) {
            self.run("free_local_memory", [&](TransferEngine& on) { return on.freeLocalMemory(pointerOf(address)); });
          },
          py::arg("addr"));
}

void bindRegistration(Class& engine) {
  engine
      .def(
          "register_local_memory",
          [](EngineHandle& self, Unsigned address, Unsigned size, Permission permission) {
            self.run("register_local_memory", [&](TransferEngine& on) {
              return on.registerLocalMemory(pointerOf(address), size.value, permission);
            });
          },
          py::arg("addr"), py::arg("size"), py::arg("permission") = kGlobalReadWrite)
      .def(
          "register_local_memory_ex",
          [](EngineHandle& self, Unsigned address, Unsigned size, const MemoryOptions& options) {
            self.run("register_local_memory_ex", [&](TransferEngine& on) {
              return on.registerLocalMemory(pointerOf(address), size.value, options);
            });
          },
          py::arg("addr"), py::arg("size"), py::arg("options"))
      .def(
          "unregister_local_memory",
          [](EngineHandle& self, Unsigned address, Unsigned size) {
            self.run("unregister_local_memory",
                     [&](TransferEngine& on) { return on.unregisterLocalMemory(pointerOf(address), size.value); });
          },
          py::arg("addr"), py::arg("size") = Unsigned{0})
      .def(
          "register_local_memory_batch",
          [](EngineHandle& self, const std::vector<Unsigned>& addresses, const std::vector<Unsigned>& sizes,
             Permission permission) {
            self.run("register_local_memory_batch", [&](TransferEngine& on) {
              return on.registerLocalMemory(pointersOf(addresses), sizesOf(sizes), permission);
            });
          },
          py::arg("addr_list"), py::arg("size_list"), py::arg("permission") = kGlobalReadWrite)
      .def(
          "register_local_memory_batch_ex",
          [](EngineHandle& self, const std::vector<Unsigned>& addresses, const std::vector<Unsigned>& sizes,
             const MemoryOptions& options) {
            self.run("register_local_memory_batch_ex", [&](TransferEngine& on) {
              return on.registerLocalMemory(pointersOf(addresses), sizesOf(sizes), options);
            });
          },
          py::arg("addr_list"), py::arg("size_list"), py::arg("options"))
      .def(
          "unregister_local_memory_batch",
          [](EngineHandle& self, const std::vector<Unsigned>& addresses, const std::vector<Unsigned>& sizes) {
            self.run("unregister_local_memory_batch", [&](TransferEngine& on) {
              return on.unregisterLocalMemory(pointersOf(addresses), sizesOf(sizes));
            });
          },
          py::arg("addr_list"), py::arg("size_list") = std::vector<Unsigned>{});
}

void submit(EngineHandle& self, Unsigned batch_id, const std::vector<Request>& requests,
            const Notification* notification, ValidationMode mode) {
  self.run("submit_transfer", [&](TransferEngine& on) {
    return notification == nullptr ? on.submitTransfer(batch_id.value, requests, mode)
                                   : on.submitTransfer(batch_id.value, requests, *notification, mode);
  });
}

Text explain(EngineHandle& self, const std::vector<Request>& requests, ValidationMode mode, Unsigned now_ns,
             const std::optional<Text>& environment) {
  ExplainOptions options;
  options.mode = mode;
  options.now_ns = now_ns.value;
  options.surface = TENT_SURFACE_PYTHON;
  if (environment) options.environment = environment->value;
  return resultOf<Text>(self, "explain_transfer", [&](TransferEngine& on, Text& json) {
    return on.explainTransfer(requests, options, json.value);
  });
}

// In slices, so that an interrupt from the keyboard does not have to wait for the transfer.
bool wait(EngineHandle& self, Unsigned batch_id, std::optional<Unsigned> timeout_ns) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  while (true) {
    nanoseconds slice = kSignalsLookedForEvery;
    bool last = false;
    if (timeout_ns) {
      const auto passed = static_cast<uint64_t>((Clock::now() - began) / nanoseconds(1));
      const uint64_t left = timeout_ns->value - std::min(timeout_ns->value, passed);
      last = left <= static_cast<uint64_t>(slice.count());
      if (last) slice = nanoseconds(static_cast<int64_t>(left));
    }
    TransferEngine& engine = self.get();
    Status status;
    {
      const py::gil_scoped_release released;
      status = engine.waitBatch(batch_id.value, slice);
    }
    if (status.ok()) return true;
    if (status.reason() != TENT_REASON_TIMEOUT) self.fail(status, "wait_batch");
    if (last) return false;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

void bindTransfers(Class& engine) {
  engine
      .def(
          "allocate_transfer_batch",
          [](EngineHandle& self, Unsigned batch_size) {
            return resultOf<Unsigned>(self, "allocate_transfer_batch", [&](TransferEngine& on, Unsigned& batch) {
              batch.value = on.allocateBatch(batch_size.value);
              return batch.value == 0 ? lastStatus() : Status();
            });
          },
          py::arg("batch_size"))
      .def(
          "free_transfer_batch",
          [](EngineHandle& self, Unsigned batch_id) {
            self.run("free_transfer_batch", [&](TransferEngine& on) { return on.freeBatch(batch_id.value); });
          },
          py::arg("batch_id"))
      .def("submit_transfer", &submit, py::arg("batch_id"), py::arg("request_list"), py::arg("notifi") = py::none(),
           py::kw_only(), py::arg("mode") = ValidationMode::CONFIGURED)
      .def(
          "submit_transfer_notif",
          [](EngineHandle& self, Unsigned batch_id, const std::vector<Request>& requests, const Text& name,
             const Text& message) {
            const Notification notification{name.value, message.value};
            submit(self, batch_id, requests, &notification, ValidationMode::CONFIGURED);
          },
          py::arg("batch_id"), py::arg("request_list"), py::arg("name"), py::arg("message"))
      .def("explain_json", &explain, py::arg("request_list"), py::kw_only(),
           py::arg("mode") = ValidationMode::CONFIGURED, py::arg("now_ns") = Unsigned{0},
           py::arg("environment") = py::none())
      .def(
          "cancel_transfer",
          [](EngineHandle& self, Unsigned batch_id, Unsigned task_id) {
            self.run("cancel_transfer",
                     [&](TransferEngine& on) { return on.cancelTransfer(batch_id.value, task_id.value); });
          },
          py::arg("batch_id"), py::arg("task_id"))
      .def("wait_batch", &wait, py::arg("batch_id"), py::arg("timeout_ns") = py::none())
      .def(
          "get_batch_fd",
          [](EngineHandle& self, Unsigned batch_id) {
            return resultOf<int>(self, "get_batch_fd",
                                 [&](TransferEngine& on, int& fd) { return on.getBatchFd(batch_id.value, fd); });
          },
          py::arg("batch_id"));
}

void bindStatus(Class& engine) {
  engine
      .def(
          "get_transfer_status",
          [](EngineHandle& self, Unsigned batch_id, Unsigned task_id) {
            return resultOf<TransferStatus>(self, "get_transfer_status", [&](TransferEngine& on, TransferStatus& out) {
              return on.getTransferStatus(batch_id.value, task_id.value, out);
            });
          },
          py::arg("batch_id"), py::arg("task_id"))
      .def(
          "get_transfer_status_list",
          [](EngineHandle& self, Unsigned batch_id) {
            using List = std::vector<TransferStatus>;
            return resultOf<List>(self, "get_transfer_status_list", [&](TransferEngine& on, List& out) {
              return on.getTransferStatus(batch_id.value, out);
            });
          },
          py::arg("batch_id"))
      .def(
          "get_transfer_status_overall",
          [](EngineHandle& self, Unsigned batch_id) {
            return resultOf<TransferStatus>(
                self, "get_transfer_status_overall",
                [&](TransferEngine& on, TransferStatus& out) { return on.getTransferStatus(batch_id.value, out); });
          },
          py::arg("batch_id"))
      .def(
          "raise_task_error",
          [](EngineHandle& self, Unsigned batch_id, Unsigned task_id) {
            const auto error = resultOf<Status>(self, "raise_task_error", [&](TransferEngine& on, Status& out) {
              return on.getTransferError(batch_id.value, task_id.value, out);
            });
            if (!error.ok()) raise(error, "transfer");
          },
          py::arg("batch_id"), py::arg("task_id"));
}

void bindNotifications(Class& engine) {
  engine
      .def(
          "send_notifi",
          [](EngineHandle& self, Unsigned target_id, const Notification& notification) {
            self.run("send_notifi",
                     [&](TransferEngine& on) { return on.sendNotification(target_id.value, notification); });
          },
          py::arg("target_id"), py::arg("notifi"))
      .def("recv_notifi", [](EngineHandle& self) {
        using List = std::vector<Notification>;
        return resultOf<List>(self, "recv_notifi",
                              [](TransferEngine& on, List& arrived) { return on.receiveNotification(arrived); });
      });
}

}  // namespace

void bindEngine(py::module_& module) {
  Class engine(module, "TransferEngine");
  engine.def(py::init<>())
      .def(py::init([](const Text& config) { return new EngineHandle(config.value); }), py::arg("config_path"))
      .def("available", [](EngineHandle& self) { return self.belongsHere() && self.get().available(); })
      .def("close", &EngineHandle::close)
      .def("raise_creation_error", [](EngineHandle& self) {
        const Status& creation = self.get().creationStatus();
        if (!creation.ok()) raise(creation, "TransferEngine");
      });
  bindSegments(engine);
  bindAllocation(engine);
  bindRegistration(engine);
  bindTransfers(engine);
  bindStatus(engine);
  bindNotifications(engine);

  module.def("monotonic_now_ns", &tent_monotonic_now_ns);
  module.def(
      "deadline_after_ns",
      [](Unsigned budget_ns) {
        uint64_t deadline_ns = 0;
        const int code = tent_deadline_after_ns(budget_ns.value, &deadline_ns);
        if (code != TENT_OK) raise(lastStatus(), "deadline_after_ns");
        return deadline_ns;
      },
      py::arg("budget_ns"));
}

}  // namespace tent::python
