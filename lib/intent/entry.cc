#include "intent/entry.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

namespace tent {
namespace {

using Layout = EntryV1Layout;

constexpr SchemaInfo kSchemaV1{Layout::kMinimumSize, Layout::kKnownSize};

static_assert(sizeof(void*) != 8 || (Layout::kMinimumSize == 48 && Layout::kKnownSize == 88));

// The places where a field ends, from the minimum size on: a struct_size may stop there and nowhere between.
constexpr size_t kFieldEnds[] = {Layout::kMinimumSize,   Layout::kRequestedPriority, Layout::kDeadlineNs,
                                 Layout::kPolicyName,    Layout::kTransportHint,     Layout::kReserved0,
                                 Layout::kReserved0 + 4, Layout::kKnownSize};

bool endsOnField(size_t size) {
  return std::find(std::begin(kFieldEnds), std::end(kFieldEnds), size) != std::end(kFieldEnds);
}

template <typename T>
T readAt(const std::byte* bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

Error layoutError(Reason reason, Field field, uint64_t value) {
  return {reason, field, -1, value, {}};
}

}  // namespace

const SchemaInfo* schemaInfo(uint32_t schema_version) {
  return schema_version == kRequestSchemaV1 ? &kSchemaV1 : nullptr;
}

Error checkEntries(const void* entries, size_t count, size_t entry_stride, uint32_t schema_version) {
  if (entry_stride != 0 && count > std::numeric_limits<size_t>::max() / entry_stride) {
    return layoutError(Reason::kCountOverflow, Field::kCount, count);
  }
  const SchemaInfo* schema = schemaInfo(schema_version);
  if (schema == nullptr) return layoutError(Reason::kSchemaUnknown, Field::kSchemaVersion, schema_version);
  if (entry_stride < schema->minimum_size)
    return layoutError(Reason::kStrideTooSmall, Field::kEntryStride, entry_stride);
  if (entry_stride > kEntryStrideMax) return layoutError(Reason::kStrideTooLarge, Field::kEntryStride, entry_stride);
  // The value of an address tells nothing to a reader of the error and would leak the layout of the process.
  if (reinterpret_cast<uintptr_t>(entries) % Layout::kAlignment != 0)
    return {Reason::kMisaligned, Field::kEntries, -1, {}, {}};
  if (entry_stride % Layout::kAlignment != 0)
    return layoutError(Reason::kMisaligned, Field::kEntryStride, entry_stride);
  return {};
}

Error decodeEntryV1(const void* entry, size_t entry_stride, uint32_t schema_version, EntryV1& out) {
  out.fields.surface = Surface::kV1;
  // The size is read first, for it says how much may be read; then all fields at once, so that what is checked is what
  // is used whatever another thread writes meanwhile.
  const auto* const from = static_cast<const std::byte*>(entry);
  const auto struct_size = readAt<uint32_t>(from, Layout::kStructSize);
  if (struct_size < Layout::kMinimumSize)
    return layoutError(Reason::kStructSizeTooSmall, Field::kStructSize, struct_size);
  if (struct_size > entry_stride || struct_size > kStructSizeMax) {
    return layoutError(Reason::kStructSizeTooLarge, Field::kStructSize, struct_size);
  }
  std::array<std::byte, Layout::kKnownSize> copy;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  if (struct_size >= Layout::kKnownSize) {
    std::memcpy(copy.data(), from, copy.size());
  } else {
    if (!endsOnField(struct_size)) return layoutError(Reason::kStructSizeSplitsField, Field::kStructSize, struct_size);
    // The default of every optional field is zero.
    copy.fill(std::byte{0});
    std::memcpy(copy.data(), from, struct_size);
  }
  const std::byte* const bytes = copy.data();

  const auto entry_schema = readAt<uint32_t>(bytes, Layout::kSchemaVersion);
  if (entry_schema != schema_version) {
    return layoutError(Reason::kSchemaMismatch, Field::kSchemaVersion, entry_schema);
  }

  RequestFields& fields = out.fields;
  fields.schema_version = entry_schema;
  fields.struct_size = struct_size;
  fields.opcode = readAt<int32_t>(bytes, Layout::kOpcode);
  fields.reserved_opcode = readAt<uint32_t>(bytes, Layout::kReservedOpcode);
  out.source = readAt<void*>(bytes, Layout::kSource);
  fields.has_source = out.source != nullptr;
  out.target_id = readAt<uint64_t>(bytes, Layout::kTargetId);
  fields.target_offset = readAt<uint64_t>(bytes, Layout::kTargetOffset);
  fields.length = readAt<uint64_t>(bytes, Layout::kLength);
  fields.intent_type = readAt<int32_t>(bytes, Layout::kIntentType);
  fields.priority = readAt<int32_t>(bytes, Layout::kRequestedPriority);
  fields.deadline = {DeadlineInput::Kind::kAbsolute, readAt<uint64_t>(bytes, Layout::kDeadlineNs)};
  fields.transport_hint = readAt<int32_t>(bytes, Layout::kTransportHint);
  fields.reserved0 = readAt<uint32_t>(bytes, Layout::kReserved0);
  fields.flags = readAt<uint64_t>(bytes, Layout::kFlags);
  fields.policy_name.reset();
  if (const auto* name = readAt<const char*>(bytes, Layout::kPolicyName)) {
    fields.policy_name = std::string_view(name, strnlen(name, kPolicyNameMax + 1));
  }
  fields.tail_nonzero =
      struct_size > Layout::kKnownSize &&
      std::any_of(from + Layout::kKnownSize, from + struct_size, [](std::byte byte) { return byte != std::byte{0}; });
  return {};
}

}  // namespace tent
