// The TransferEngine class of Python: batches, submits and tasks.
#include "python/engine.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include <pybind11/stl.h>

#include "python/casters.h"

namespace tent::python {
namespace {

namespace py = pybind11;

using std::chrono::nanoseconds;

constexpr nanoseconds kSignalsLookedForEvery = std::chrono::milliseconds(50);

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

void bindStatus(EngineClass& engine) {
  engine
      .def(
          "get_transfer_status",
          [](EngineHandle& self, Unsigned batch_id, Unsigned task_id) {
            return resultOf<TransferStatus>(self, "get_transfer_status", [&](TransferEngine& on, TransferStatus& out) {
              return on.getTransferStatus(batch_id.value, task_id.value, out);
            });
          },
          "How far a task has come.", py::arg("batch_id"), py::arg("task_id"))
      .def(
          "get_transfer_status_list",
          [](EngineHandle& self, Unsigned batch_id) {
            using List = std::vector<TransferStatus>;
            return resultOf<List>(self, "get_transfer_status_list", [&](TransferEngine& on, List& out) {
              return on.getTransferStatus(batch_id.value, out);
            });
          },
          "How far each task of a batch has come.", py::arg("batch_id"))
      .def(
          "get_transfer_status_overall",
          [](EngineHandle& self, Unsigned batch_id) {
            return resultOf<TransferStatus>(
                self, "get_transfer_status_overall",
                [&](TransferEngine& on, TransferStatus& out) { return on.getTransferStatus(batch_id.value, out); });
          },
          "How far a batch has come: PENDING while a task is in flight.", py::arg("batch_id"))
      .def(
          "raise_task_error",
          [](EngineHandle& self, Unsigned batch_id, Unsigned task_id) {
            const auto error = resultOf<Status>(self, "raise_task_error", [&](TransferEngine& on, Status& out) {
              return on.getTransferError(batch_id.value, task_id.value, out);
            });
            if (!error.ok()) raise(error, "transfer");
          },
          "Raises why a task ended other than COMPLETED, where it did.", py::arg("batch_id"), py::arg("task_id"));
}

void bindBatches(EngineClass& engine) {
  engine
      .def(
          "allocate_transfer_batch",
          [](EngineHandle& self, Unsigned batch_size) {
            return resultOf<Unsigned>(self, "allocate_transfer_batch", [&](TransferEngine& on, Unsigned& batch) {
              batch.value = on.allocateBatch(batch_size.value);
              return batch.value == 0 ? lastStatus() : Status();
            });
          },
          "A batch with room for so many tasks.", py::arg("batch_size"))
      .def(
          "free_transfer_batch",
          [](EngineHandle& self, Unsigned batch_id) {
            self.run("free_transfer_batch", [&](TransferEngine& on) { return on.freeBatch(batch_id.value); });
          },
          "Refused while tasks are in flight.", py::arg("batch_id"))
      .def("submit_transfer", &submit,
           "All or nothing: after an error no byte has moved. Requests become the next tasks of the batch.",
           py::arg("batch_id"), py::arg("request_list"), py::arg("notifi") = py::none(), py::kw_only(),
           py::arg("mode") = ValidationMode::CONFIGURED)
      .def(
          "submit_transfer_notif",
          [](EngineHandle& self, Unsigned batch_id, const std::vector<Request>& requests, const Text& name,
             const Text& message) {
            const Notification notification{name.value, message.value};
            submit(self, batch_id, requests, &notification, ValidationMode::CONFIGURED);
          },
          "submit_transfer with a notification: the targets receive it once these tasks are completed.",
          py::arg("batch_id"), py::arg("request_list"), py::arg("name"), py::arg("message"))
      .def("explain_json", &explain, "`TransferEngine.explain_transfer` of the package, as JSON.",
           py::arg("request_list"), py::kw_only(), py::arg("mode") = ValidationMode::CONFIGURED,
           py::arg("now_ns") = Unsigned{0}, py::arg("environment") = py::none())
      .def(
          "cancel_transfer",
          [](EngineHandle& self, Unsigned batch_id, Unsigned task_id) {
            self.run("cancel_transfer",
                     [&](TransferEngine& on) { return on.cancelTransfer(batch_id.value, task_id.value); });
          },
          "Asks that a task does not begin; poll it until its status is final.", py::arg("batch_id"),
          py::arg("task_id"))
      .def("wait_batch", &wait,
           "Waits until no task of the batch is in flight; false when the time passed first. None: without limit.",
           py::arg("batch_id"), py::arg("timeout_ns") = py::none())
      .def(
          "get_batch_fd",
          [](EngineHandle& self, Unsigned batch_id) {
            return resultOf<int>(self, "get_batch_fd",
                                 [&](TransferEngine& on, int& fd) { return on.getBatchFd(batch_id.value, fd); });
          },
          "A descriptor that is readable while no task of the batch is in flight. The engine's; gone with the batch.",
          py::arg("batch_id"));
}

}  // namespace

void bindTransfers(EngineClass& engine) {
  bindBatches(engine);
  bindStatus(engine);
}

}  // namespace tent::python
