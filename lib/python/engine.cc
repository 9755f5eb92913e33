#include "python/engine.h"

#include <vector>

#include <pybind11/stl.h>

#include "python/casters.h"

namespace tent::python {
namespace {

namespace py = pybind11;

void bindSegments(EngineClass& engine) {
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

void bindNotifications(EngineClass& engine) {
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
  EngineClass engine(module, "TransferEngine");
  engine.def(py::init<>())
      .def(py::init([](const Text& config) { return new EngineHandle(config.value); }), py::arg("config_path"))
      .def("available", [](EngineHandle& self) { return self.belongsHere() && self.get().available(); })
      .def("close", &EngineHandle::close)
      .def("raise_creation_error", [](EngineHandle& self) {
        const Status& creation = self.get().creationStatus();
        if (!creation.ok()) raise(creation, "TransferEngine");
      });
  bindSegments(engine);
  bindMemory(engine);
  bindTransfers(engine);
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
