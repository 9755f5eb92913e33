#include "python/values.h"

#include <optional>
#include <string>

#include <pybind11/stl.h>

#include "python/casters.h"
#include "tent/types.h"

namespace tent::python {
namespace {

namespace py = pybind11;

// Numbers that stand in a request instead of the members of enumerations, unchecked.
struct RawIntent {
  std::optional<int32_t> opcode;
  std::optional<int32_t> intent_type;
  std::optional<int32_t> requested_priority;
  std::optional<int32_t> transport_hint;

  void applyTo(Request& request) const {
    if (opcode) request.opcode = static_cast<Request::OpCode>(*opcode);
    if (intent_type) request.intent_type = static_cast<IntentType>(*intent_type);
    if (requested_priority) request.requested_priority = static_cast<RequestedPriority>(*requested_priority);
    if (transport_hint) request.transport_hint = static_cast<TransportType>(*transport_hint);
  }
};

std::optional<int32_t> valueOf(const std::optional<Signed32>& number) {
  return number ? std::optional(number->value) : std::nullopt;
}

std::optional<std::string> valueOf(const std::optional<Text>& text) {
  return text ? std::optional(text->value) : std::nullopt;
}

std::optional<Text> textOrNone(const std::optional<std::string>& text) {
  return text ? std::optional(Text{*text}) : std::nullopt;
}

Request makeRequest(Request::OpCode opcode, Unsigned source, Unsigned target_id, Unsigned target_offset,
                    Unsigned length, Signed32 priority, TransportType transport_hint,
                    const std::optional<Text>& policy_name, Unsigned deadline_ns, IntentType intent_type,
                    std::optional<RequestedPriority> requested_priority, Unsigned flags, const RawIntent* raw_intent) {
  Request request{opcode, pointerOf(source), target_id.value, target_offset.value, length.value, priority.value};
  request.policy_name = valueOf(policy_name);
  request.transport_hint = transport_hint;
  request.deadline_ns = deadline_ns.value;
  request.intent_type = intent_type;
  request.requested_priority = requested_priority;
  request.flags = flags.value;
  if (raw_intent != nullptr) raw_intent->applyTo(request);
  return request;
}

// A property of a number of the library's, with the strictness of an argument.
template <typename Class, typename Owner, typename Field>
void number(Class& bound, const char* name, Field Owner::*member) {
  bound.def_property(
      name, [member](const Owner& owner) { return Unsigned{static_cast<uint64_t>(owner.*member)}; },
      [member](Owner& owner, Unsigned value) { owner.*member = static_cast<Field>(value.value); });
}

template <typename Class, typename Owner>
void text(Class& bound, const char* name, std::string Owner::*member) {
  bound.def_property(
      name, [member](const Owner& owner) { return Text{owner.*member}; },
      [member](Owner& owner, const Text& value) { owner.*member = value.value; });
}

void bindRequest(py::module_& module) {
  py::class_<Request> request(module, "Request", "One transfer and what it means.");
  py::class_<RawIntent>(module, "RawIntent",
                        "Unchecked int32 numbers in place of enumerations' members, for tests of the validation alone.")
      .def(py::init([](std::optional<Signed32> opcode, std::optional<Signed32> intent_type,
                       std::optional<Signed32> requested_priority, std::optional<Signed32> transport_hint) {
             return RawIntent{valueOf(opcode), valueOf(intent_type), valueOf(requested_priority),
                              valueOf(transport_hint)};
           }),
           py::kw_only(), py::arg("opcode") = py::none(), py::arg("intent_type") = py::none(),
           py::arg("requested_priority") = py::none(), py::arg("transport_hint") = py::none())
      .def("apply_to", &RawIntent::applyTo, "Puts the numbers into a request.", py::arg("request"));

  request.def(py::init<>())
      .def(py::init(&makeRequest), py::arg("opcode"), py::arg("source"), py::arg("target_id"), py::arg("target_offset"),
           py::arg("length"), py::arg("priority") = Signed32{PRIO_HIGH}, py::arg("transport_hint") = UNSPEC,
           py::arg("policy_name") = py::none(), py::arg("deadline_ns") = Unsigned{0},
           py::arg("intent_type") = IntentType::INTENT_UNSPEC, py::kw_only(),
           py::arg("requested_priority") = py::none(), py::arg("flags") = Unsigned{0},
           py::arg("raw_intent") = py::none())
      .def_readwrite("opcode", &Request::opcode)
      .def_property(
          "source", [](const Request& r) { return addressOf(r.source); },
          [](Request& r, Unsigned address) { r.source = pointerOf(address); })
      .def_property(
          "priority", [](const Request& r) { return Signed32{r.priority}; },
          [](Request& r, Signed32 priority) { r.priority = priority.value; })
      .def_readwrite("transport_hint", &Request::transport_hint)
      .def_property(
          "policy_name", [](const Request& r) { return textOrNone(r.policy_name); },
          [](Request& r, const std::optional<Text>& name) { r.policy_name = valueOf(name); })
      .def_readwrite("intent_type", &Request::intent_type)
      .def_readwrite("requested_priority", &Request::requested_priority);
  number(request, "target_id", &Request::target_id);
  number(request, "target_offset", &Request::target_offset);
  number(request, "length", &Request::length);
  number(request, "deadline_ns", &Request::deadline_ns);
  number(request, "flags", &Request::flags);
}

void bindSegmentInfo(py::module_& module) {
  py::class_<SegmentInfo::Buffer> buffer(module, "SegmentInfoBuffer", "One piece of memory that peers may reach.");
  buffer.def(py::init<>());
  number(buffer, "base", &SegmentInfo::Buffer::base);
  number(buffer, "length", &SegmentInfo::Buffer::length);
  text(buffer, "location", &SegmentInfo::Buffer::location);
  py::class_<SegmentInfo>(module, "SegmentInfo", "What a segment offers to its peers.")
      .def(py::init<>())
      .def_readwrite("type", &SegmentInfo::type)
      .def_readwrite("buffers", &SegmentInfo::buffers);
}

}  // namespace

void bindValues(py::module_& module) {
  bindRequest(module);
  bindSegmentInfo(module);

  py::class_<TransferStatus> status(module, "TransferStatus", "How far a task or a batch has come.");
  status.def(py::init<>()).def_readwrite("state", &TransferStatus::s);
  number(status, "bytes", &TransferStatus::transferred_bytes);

  py::class_<Notification> notification(module, "Notification", "A short message to the application at the other end.");
  notification.def(py::init<>())
      .def(py::init([](const Text& name, const Text& msg) {
             return Notification{name.value, msg.value};
           }),
           py::arg("name"), py::arg("msg"));
  text(notification, "name", &Notification::name);
  text(notification, "msg", &Notification::msg);
  number(notification, "sender", &Notification::sender);

  py::class_<MemoryOptions> options(module, "MemoryOptions", "How memory is allocated or registered.");
  options.def(py::init<>()).def_readwrite("perm", &MemoryOptions::perm).def_readwrite("type", &MemoryOptions::type);
  text(options, "location", &MemoryOptions::location);

  py::class_<NicLoadStat> load(module, "NicLoadStat", "How busy a NIC is.");
  load.def_readonly("ewma_bandwidth_bps", &NicLoadStat::ewma_bandwidth_bps);
  text(load, "device_name", &NicLoadStat::device_name);
  number(load, "inflight_bytes", &NicLoadStat::inflight_bytes);
}

}  // namespace tent::python
