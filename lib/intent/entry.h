// Entries of a versioned request array as they lie in the caller's memory: which sizes, strides and alignments are
// acceptable, and how one entry is read (RFC "C ABI validation").
//
// Schema 1 on LP64: minimum size 48 (through `length`), known size 88. An entry is copied out of the caller's memory
// once and read from the copy, so another thread's change cannot pass between a check and its use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "intent/request.h"

namespace tent {

inline constexpr size_t kEntryStrideMax = 65536;
inline constexpr size_t kStructSizeMax = 4096;

struct SchemaInfo {
  size_t minimum_size;
  size_t known_size;
};

// Sizes of a schema, nullptr when this library does not know it. Static storage.
const SchemaInfo* schemaInfo(uint32_t schema_version);

constexpr size_t alignUp(size_t offset, size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// Byte offsets of schema 1 on this platform.
struct EntryV1Layout {
  static constexpr size_t kPointer = sizeof(void*);
  static constexpr size_t kAlign64 = alignof(uint64_t);
  static constexpr size_t kStructSize = 0;
  static constexpr size_t kSchemaVersion = 4;
  static constexpr size_t kOpcode = 8;
  static constexpr size_t kReservedOpcode = 12;
  static constexpr size_t kSource = 16;
  static constexpr size_t kTargetId = alignUp(kSource + kPointer, kAlign64);
  static constexpr size_t kTargetOffset = kTargetId + 8;
  static constexpr size_t kLength = kTargetOffset + 8;
  static constexpr size_t kIntentType = kLength + 8;
  static constexpr size_t kRequestedPriority = kIntentType + 4;
  static constexpr size_t kDeadlineNs = kRequestedPriority + 4;
  static constexpr size_t kPolicyName = kDeadlineNs + 8;
  static constexpr size_t kTransportHint = kPolicyName + kPointer;
  static constexpr size_t kReserved0 = kTransportHint + 4;
  static constexpr size_t kFlags = alignUp(kReserved0 + 4, kAlign64);
  static constexpr size_t kMinimumSize = kIntentType;
  static constexpr size_t kKnownSize = kFlags + 8;
  static constexpr size_t kAlignment = kAlign64 > kPointer ? kAlign64 : kPointer;
};

// Checks what holds for the call as a whole, steps 1 and 2 of the order: count x stride overflow, the argument's
// schema, stride bounds, alignment of base and stride. `count` is at least 1 and `entries` not NULL.
Error checkEntries(const void* entries, size_t count, size_t entry_stride, uint32_t schema_version);

// A decoded entry of schema 1. `source` and `policy_name` point into the caller's memory.
struct EntryV1 {
  RequestFields fields;  // policy_name refers to at most the first kPolicyNameMax + 1 bytes of the caller's string
  void* source = nullptr;
  uint64_t target_id = 0;
};

// Reads the entry at `entry` (aligned, `entry_stride` bytes readable; checkEntries has passed) and checks its size and
// schema. Optional fields past its struct_size take their defaults. On an error only `out.fields.surface` is set.
Error decodeEntryV1(const void* entry, size_t entry_stride, uint32_t schema_version, EntryV1& out);

}  // namespace tent
