// The values of Transfer Intent v1 and their names. Numbers and names are stable once published (RFC "Field
// semantics").
//
// Two priorities exist and never mix: `RequestedPriority` is what a v1 caller asks (0 = nothing asked), `Priority` is
// what legacy requests, configurations and effective policies speak of (0 = high).
//
// Thread safety: values; all functions are pure and do not allocate.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace tent {

enum class Opcode : int32_t { kRead = 0, kWrite = 1 };

enum class IntentType : int32_t {
  kUnspec = 0,
  kForegroundGet = 1,
  kBackgroundPrefetch = 2,
  kMigration = 3,
  kCheckpoint = 4,
  kWeightLoading = 5,
  kStagingInternal = 6,
};
inline constexpr int kIntentTypeCount = 7;

enum class RequestedPriority : int32_t { kUnspec = 0, kHigh = 1, kMedium = 2, kLow = 3 };

enum class Priority : int32_t { kHigh = 0, kMedium = 1, kLow = 2 };

enum class Transport : int32_t {
  kUnspec = 0,
  kRdma = 1,
  kMnnvl = 2,
  kShm = 3,
  kNvlink = 4,
  kGds = 5,
  kIoUring = 6,
  kTcp = 7,
  kAscend = 8,
  kSunriseLink = 9,
  kTpu = 10,
  kUb = 11,
  kMpcomm = 12,
};
inline constexpr int kTransportCount = 13;

enum class ValidationMode : int32_t { kStrict = 0, kCompat = 1 };

// Through which interface a request came; decides the defaults that the interface has (legacy: priority 0 is high).
enum class Surface : uint8_t { kV1, kLegacy, kCpp, kPython };

std::string_view nameOf(Opcode value);
std::string_view nameOf(IntentType value);
std::string_view nameOf(RequestedPriority value);
std::string_view nameOf(Priority value);
std::string_view nameOf(Transport value);
std::string_view nameOf(ValidationMode value);
std::string_view nameOf(Surface value);

// The value of an exact name; nothing for any other text.
template <typename Enum>
std::optional<Enum> valueOfName(std::string_view name);

// The names of all values in order of their numbers.
template <typename Enum>
std::span<const std::string_view> namesOf();

// The value of a name as a request in JSON may spell it: the name, or the RFC's or the C header's constant
// ("foreground_get", "FOREGROUND_GET", "TENT_INTENT_FOREGROUND_GET"). For Opcode, IntentType, RequestedPriority,
// Transport.
template <typename Enum>
std::optional<Enum> valueOfSpelling(std::string_view spelling);

// The value that an integer stands for; nothing when no value has it. Never clamps, never casts unseen.
template <typename Enum>
constexpr std::optional<Enum> valueOfInteger(int64_t number);

// Legacy priority numbers: 0 high, 1 medium, any other low, as deployed.
constexpr Priority priorityOfLegacy(int32_t number) {
  return number == 0 ? Priority::kHigh : number == 1 ? Priority::kMedium : Priority::kLow;
}

constexpr RequestedPriority requestedOf(Priority priority) {
  return static_cast<RequestedPriority>(static_cast<int32_t>(priority) + 1);
}

// A set of transports.
class TransportSet {
 public:
  constexpr TransportSet() = default;
  constexpr void add(Transport transport) { bits_ |= bit(transport); }
  constexpr void remove(Transport transport) { bits_ &= static_cast<uint16_t>(~bit(transport)); }
  constexpr bool has(Transport transport) const { return (bits_ & bit(transport)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(TransportSet, TransportSet) = default;

 private:
  static constexpr uint16_t bit(Transport transport) {
    return static_cast<uint16_t>(1u << static_cast<int>(transport));
  }
  uint16_t bits_ = 0;
};

// Transports in order of preference, each at most once; in place, so that copying one does not allocate.
class TransportList {
 public:
  constexpr TransportList() = default;
  constexpr TransportList(std::initializer_list<Transport> transports) {
    for (Transport transport : transports) add(transport);
  }
  // Appends; a transport already there stays where it is.
  constexpr void add(Transport transport) {
    if (set_.has(transport)) return;
    set_.add(transport);
    items_[size_++] = transport;
  }
  // Moves a transport of the list to its front, the others keep their order.
  constexpr void moveToFront(Transport transport) {
    if (!set_.has(transport)) return;
    Transport* const at = std::find(items_.data(), items_.data() + size_, transport);
    std::rotate(items_.data(), at, at + 1);
  }
  constexpr bool has(Transport transport) const { return set_.has(transport); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr size_t size() const { return size_; }
  constexpr const Transport* begin() const { return items_.data(); }
  constexpr const Transport* end() const { return items_.data() + size_; }
  friend constexpr bool operator==(const TransportList& a, const TransportList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<Transport, kTransportCount> items_{};
  size_t size_ = 0;
  TransportSet set_;
};

// The transports of a set, in the order of their numbers.
constexpr TransportList listOf(TransportSet set) {
  TransportList list;
  for (int i = 1; i < kTransportCount; ++i) {
    if (set.has(static_cast<Transport>(i))) list.add(static_cast<Transport>(i));
  }
  return list;
}

// ---- inline parts

template <typename Enum>
constexpr std::optional<Enum> valueOfInteger(int64_t number) {
  constexpr int64_t kCount = [] {
    if constexpr (std::is_same_v<Enum, Opcode> || std::is_same_v<Enum, ValidationMode>) return 2;
    if constexpr (std::is_same_v<Enum, IntentType>) return kIntentTypeCount;
    if constexpr (std::is_same_v<Enum, RequestedPriority>) return 4;
    if constexpr (std::is_same_v<Enum, Priority>) return 3;
    if constexpr (std::is_same_v<Enum, Transport>) return kTransportCount;
  }();
  if (number < 0 || number >= kCount) return std::nullopt;
  return static_cast<Enum>(number);
}

}  // namespace tent
