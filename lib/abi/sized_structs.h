// The structs of v1 that begin with struct_size: append-only, read and filled in as far as both sides know them
// (convention 4 of the header).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <tl/expected.hpp>

#include "base/error.h"
#include "tent/transfer_engine.h"

namespace tent::abi {

// What is known of each such struct: its name, and where struct_size may end. The first end is that of the struct's
// first version; what is appended comes behind the last.
template <typename Struct>
struct Sized;

#define TENT_FIELD_END(type, member) (offsetof(type, member) + sizeof(type::member))

template <>
struct Sized<tent_result_t> {
  static constexpr const char* kName = "tent_result";
  static constexpr std::array kEnds{
      TENT_FIELD_END(tent_result_t, category),    TENT_FIELD_END(tent_result_t, reason),
      TENT_FIELD_END(tent_result_t, field),       TENT_FIELD_END(tent_result_t, index),
      TENT_FIELD_END(tent_result_t, failing),     TENT_FIELD_END(tent_result_t, category_name),
      TENT_FIELD_END(tent_result_t, reason_name), TENT_FIELD_END(tent_result_t, field_name),
      TENT_FIELD_END(tent_result_t, message)};
};

template <>
struct Sized<tent_submit_options_t> {
  static constexpr const char* kName = "tent_submit_options";
  static constexpr std::array kEnds{TENT_FIELD_END(tent_submit_options_t, mode),
                                    TENT_FIELD_END(tent_submit_options_t, notification_name),
                                    TENT_FIELD_END(tent_submit_options_t, notification_message)};
};

template <>
struct Sized<tent_explain_options_t> {
  static constexpr const char* kName = "tent_explain_options";
  static constexpr std::array kEnds{
      TENT_FIELD_END(tent_explain_options_t, mode), TENT_FIELD_END(tent_explain_options_t, now_ns),
      TENT_FIELD_END(tent_explain_options_t, environment), TENT_FIELD_END(tent_explain_options_t, surface),
      TENT_FIELD_END(tent_explain_options_t, reserved)};
};

template <>
struct Sized<tent_normalized_intent_t> {
  static constexpr const char* kName = "tent_normalized_intent";
  static constexpr std::array kEnds{TENT_FIELD_END(tent_normalized_intent_t, opcode),
                                    TENT_FIELD_END(tent_normalized_intent_t, intent_type),
                                    TENT_FIELD_END(tent_normalized_intent_t, requested_priority),
                                    TENT_FIELD_END(tent_normalized_intent_t, transport_hint),
                                    TENT_FIELD_END(tent_normalized_intent_t, deadline_state),
                                    TENT_FIELD_END(tent_normalized_intent_t, deadline_ns),
                                    TENT_FIELD_END(tent_normalized_intent_t, remaining_ns),
                                    TENT_FIELD_END(tent_normalized_intent_t, target_offset),
                                    TENT_FIELD_END(tent_normalized_intent_t, length),
                                    TENT_FIELD_END(tent_normalized_intent_t, flags),
                                    TENT_FIELD_END(tent_normalized_intent_t, policy_name),
                                    TENT_FIELD_END(tent_normalized_intent_t, reserved),
                                    TENT_FIELD_END(tent_normalized_intent_t, downgrade_count),
                                    TENT_FIELD_END(tent_normalized_intent_t, downgrades)};
};

#undef TENT_FIELD_END

// What is wrong with a struct_size: struct_size_too_small, struct_size_too_large, struct_size_splits_field.
template <typename Struct>
Error checkSize(uint32_t size) {
  constexpr uint32_t kSizeMax = 4096;
  constexpr auto& kEnds = Sized<Struct>::kEnds;
  static_assert(std::is_sorted(kEnds.begin(), kEnds.end()) && kEnds.back() == sizeof(Struct));
  const auto wrong = [size](Reason reason, const char* what) -> Error {
    return errorSaying(
        reason, Field::kStructSize, uint64_t{size},
        fmt::format("struct_size {} of {} {}; set it to sizeof the struct", size, Sized<Struct>::kName, what));
  };
  if (size < kEnds.front()) return wrong(Reason::kStructSizeTooSmall, "is too small");
  if (size > kSizeMax) return wrong(Reason::kStructSizeTooLarge, "is more than 4096");
  if (size < sizeof(Struct) && std::find(kEnds.begin(), kEnds.end(), size) == kEnds.end()) {
    return wrong(Reason::kStructSizeSplitsField, "ends in the middle of a field");
  }
  return {};
}

// The caller's struct over `defaults`; nullptr is the defaults. reserved_nonzero: behind what this library knows.
template <typename Struct>
tl::expected<Struct, Error> readSized(const Struct* given, Struct defaults) {
  if (given == nullptr) return defaults;
  const uint32_t size = given->struct_size;
  if (Error error = checkSize<Struct>(size)) return tl::unexpected(std::move(error));
  std::memcpy(&defaults, given, std::min<size_t>(size, sizeof defaults));
  if (size <= sizeof defaults) return defaults;
  const auto* const tail = reinterpret_cast<const unsigned char*>(given) + sizeof defaults;
  if (std::all_of(tail, tail + (size - sizeof defaults), [](unsigned char byte) { return byte == 0; })) return defaults;
  return tl::unexpected(
      errorSaying(Reason::kReservedNonzero, Field::kStructSize, uint64_t{size},
                  fmt::format("{} asks for something of a newer version behind the {} bytes that this library knows; "
                              "set that to 0, or use a newer library",
                              Sized<Struct>::kName, sizeof defaults)));
}

// Fills in the caller's struct, of which the size was checked: no further than it goes, and with zeros behind what this
// library knows.
template <typename Struct>
void writeSized(Struct whole, Struct* out) {
  const uint32_t size = out->struct_size;
  whole.struct_size = size;
  std::memcpy(out, &whole, std::min<size_t>(size, sizeof whole));
  if (size > sizeof whole) std::memset(reinterpret_cast<char*>(out) + sizeof whole, 0, size - sizeof whole);
}

}  // namespace tent::abi
