#include "python/engine.h"

#include <vector>

#include <pybind11/stl.h>

#include "python/casters.h"

namespace tent::python {
namespace {

namespace py = pybind11;

void bindSegments(EngineClass& engine) {
  engine
      .def(
          "get_segment_name", [](EngineHandle& self) { return Text{self.get().getSegmentName()}; },
          "What peers pass to `open_segment`.")
      .def(
          "get_rpc_server_address", [](EngineHandle& self) { return Text{self.get().getRpcServerAddress()}; },
          "The address that it listens on.")
      .def(
          "get_rpc_server_port", [](EngineHandle& self) { return self.get().getRpcServerPort(); },
          "The port that it listens on; 0 where it is not available.")
      .def(
          "open_segment",
          [](EngineHandle& self, const Text& name) {
            return resultOf<Unsigned>(self, "open_segment", [&](TransferEngine& on, Unsigned& handle) {
              return on.openSegment(handle.value, name.value);
            });
          },
          "Connects to the engine of that name; the same name gives the same handle, to be closed as often.",
          py::arg("segment_name"))
      .def(
          "close_segment",
          [](EngineHandle& self, Unsigned handle) {
            self.run("close_segment", [&](TransferEngine& on) { return on.closeSegment(handle.value); });
          },
          "Undoes one open_segment.", py::arg("handle"))
      .def(
          "get_segment_info",
          [](EngineHandle& self, Unsigned handle) {
            return resultOf<SegmentInfo>(self, "get_segment_info", [&](TransferEngine& on, SegmentInfo& info) {
              return on.getSegmentInfo(handle.value, info);
            });
          },
          "The buffers that peers may reach, as the target describes itself now.", py::arg("handle"))
      .def(
          "get_nic_load_stats",
          [](EngineHandle& self) {
            return resultOf<std::vector<NicLoadStat>>(
                self, "get_nic_load_stats",
                [](TransferEngine& on, std::vector<NicLoadStat>& stats) { return on.getNicLoadStats(stats); });
          },
          "How busy each NIC is.");
}

void bindNotifications(EngineClass& engine) {
  engine
      .def(
          "send_notifi",
          [](EngineHandle& self, Unsigned target_id, const Notification& notification) {
            self.run("send_notifi",
                     [&](TransferEngine& on) { return on.sendNotification(target_id.value, notification); });
          },
          "Sends a notification; waits until the peer has it.", py::arg("target_id"), py::arg("notifi"))
      .def(
          "recv_notifi",
          [](EngineHandle& self) {
            using List = std::vector<Notification>;
            return resultOf<List>(self, "recv_notifi",
                                  [](TransferEngine& on, List& arrived) { return on.receiveNotification(arrived); });
          },
          "The notifications that have arrived since the last call.");
}

}  // namespace

void bindEngine(py::module_& module) {
  EngineClass engine(module, "TransferEngine");
  engine.def(py::init<>())
      .def(py::init([](const Text& config) { return new EngineHandle(config.value); }), py::arg("config_path"))
      .def(
          "available", [](EngineHandle& self) { return self.belongsHere() && self.get().available(); },
          "Whether it came to life, and was not closed.")
      .def("close", &EngineHandle::close,
           "Ends what is in flight and gives everything back. May be called again, and while other threads wait.")
      .def(
          "raise_creation_error",
          [](EngineHandle& self) {
            const Status& creation = self.get().creationStatus();
            if (!creation.ok()) raise(creation, "TransferEngine");
          },
          "Raises why it did not come to life, where it did not.");
  bindSegments(engine);
  bindMemory(engine);
  bindTransfers(engine);
  bindNotifications(engine);

  module.def("monotonic_now_ns", &tent_monotonic_now_ns, "The clock of deadlines, which is `time.monotonic_ns()`.");
  module.def(
      "deadline_after_ns",
      [](Unsigned budget_ns) {
        uint64_t deadline_ns = 0;
        const int code = tent_deadline_after_ns(budget_ns.value, &deadline_ns);
        if (code != TENT_OK) raise(lastStatus(), "deadline_after_ns");
        return deadline_ns;
      },
      "Now plus a budget. InvalidArgumentError: over 64 bits, or a budget over 30 days. A budget of 0 has expired.",
      py::arg("budget_ns"));
}

}  // namespace tent::python
