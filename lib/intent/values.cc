#include "intent/values.h"

namespace tent {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kOpcodes[] = {"read", "write"};
constexpr std::string_view kIntentTypes[] = {"unspec",     "foreground_get", "background_prefetch", "migration",
                                             "checkpoint", "weight_loading", "staging_internal"};
constexpr std::string_view kRequestedPriorities[] = {"unspec", "high", "medium", "low"};
constexpr std::string_view kPriorities[] = {"high", "medium", "low"};
constexpr std::string_view kTransports[] = {"unspec", "rdma",   "mnnvl",        "shm", "nvlink", "gds",   "io_uring",
                                            "tcp",    "ascend", "sunrise_link", "tpu", "ub",     "mpcomm"};
constexpr std::string_view kModes[] = {"strict", "compat"};
constexpr std::string_view kSurfaces[] = {"v1", "legacy", "cpp", "python"};

static_assert(std::size(kIntentTypes) == kIntentTypeCount && std::size(kTransports) == kTransportCount);

// The constants of the RFC and of the C header are the names in capitals behind a prefix; these are spelt otherwise.
struct Constant {
  std::string_view spelling;
  Transport value;
};
constexpr Constant kIrregularTransports[] = {{"TRANSPORT_IOURING", Transport::kIoUring},
                                             {"TRANSPORT_ASCEND_DIRECT", Transport::kAscend}};

bool isCapitalOf(std::string_view spelling, std::string_view name) {
  if (spelling.size() != name.size()) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char lower = name[i];
    const char capital = lower >= 'a' && lower <= 'z' ? static_cast<char>(lower - 'a' + 'A') : lower;
    if (spelling[i] != capital) return false;
  }
  return true;
}

// Whether `spelling` is `prefix` and `name` in capitals.
bool isConstant(std::string_view spelling, std::string_view prefix, std::string_view name) {
  return spelling.starts_with(prefix) && isCapitalOf(spelling.substr(prefix.size()), name);
}

template <typename Enum>
std::optional<Enum> find(std::string_view text) {
  const Names names = namesOf<Enum>();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

template <typename Enum>
std::optional<Enum> findConstant(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  const Names names = namesOf<Enum>();
  for (size_t i = 0; i < names.size(); ++i) {
    for (std::string_view prefix : prefixes) {
      if (isConstant(text, prefix, names[i])) return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

template <typename Enum>
std::string_view nameAt(Enum value) {
  return namesOf<Enum>()[static_cast<size_t>(value)];
}

}  // namespace

// clang-format off
template <> Names namesOf<Opcode>() { return kOpcodes; }
template <> Names namesOf<IntentType>() { return kIntentTypes; }
template <> Names namesOf<RequestedPriority>() { return kRequestedPriorities; }
template <> Names namesOf<Priority>() { return kPriorities; }
template <> Names namesOf<Transport>() { return kTransports; }
template <> Names namesOf<ValidationMode>() { return kModes; }
template <> Names namesOf<Surface>() { return kSurfaces; }

template <> std::optional<Opcode> valueOfName(std::string_view name) { return find<Opcode>(name); }
template <> std::optional<IntentType> valueOfName(std::string_view name) { return find<IntentType>(name); }
template <> std::optional<RequestedPriority> valueOfName(std::string_view name) { return find<RequestedPriority>(name); }
template <> std::optional<Priority> valueOfName(std::string_view name) { return find<Priority>(name); }
template <> std::optional<Transport> valueOfName(std::string_view name) { return find<Transport>(name); }
template <> std::optional<ValidationMode> valueOfName(std::string_view name) { return find<ValidationMode>(name); }
template <> std::optional<Surface> valueOfName(std::string_view name) { return find<Surface>(name); }
// clang-format on

std::string_view nameOf(Opcode value) {
  return nameAt(value);
}
std::string_view nameOf(IntentType value) {
  return nameAt(value);
}
std::string_view nameOf(RequestedPriority value) {
  return nameAt(value);
}
std::string_view nameOf(Priority value) {
  return nameAt(value);
}
std::string_view nameOf(Transport value) {
  return nameAt(value);
}
std::string_view nameOf(ValidationMode value) {
  return nameAt(value);
}
std::string_view nameOf(Surface value) {
  return nameAt(value);
}

template <>
std::optional<Opcode> valueOfSpelling(std::string_view spelling) {
  if (auto value = find<Opcode>(spelling)) return value;
  return findConstant<Opcode>(spelling, {"OPCODE_"});
}

template <>
std::optional<IntentType> valueOfSpelling(std::string_view spelling) {
  if (auto value = find<IntentType>(spelling)) return value;
  // The RFC writes INTENT_UNSPEC, but FOREGROUND_GET and the others bare; a bare UNSPEC is nobody's constant.
  if (spelling == "INTENT_UNSPEC") return IntentType::kUnspec;
  if (auto value = findConstant<IntentType>(spelling, {"TENT_INTENT_"})) return value;
  auto value = findConstant<IntentType>(spelling, {""});
  return value == IntentType::kUnspec ? std::nullopt : value;
}

template <>
std::optional<RequestedPriority> valueOfSpelling(std::string_view spelling) {
  if (auto value = find<RequestedPriority>(spelling)) return value;
  return findConstant<RequestedPriority>(spelling, {"TENT_PRIORITY_"});
}

template <>
std::optional<Transport> valueOfSpelling(std::string_view spelling) {
  if (auto value = find<Transport>(spelling)) return value;
  for (const Constant& constant : kIrregularTransports) {
    if (constant.spelling == spelling) return constant.value;
  }
  // TRANSPORT_IO_URING and TRANSPORT_ASCEND are no constants of the header.
  auto value = findConstant<Transport>(spelling, {"TRANSPORT_"});
  return value == Transport::kIoUring || value == Transport::kAscend ? std::nullopt : value;
}

}  // namespace tent
