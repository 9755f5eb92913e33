#include "intent/entry.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tent {
namespace {

using Layout = EntryV1Layout;

struct Entry {
  alignas(8) std::array<std::byte, 4096> bytes{};

  template <typename T>
  Entry& put(size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return *this;
  }
};

Entry goodEntry(uint32_t struct_size = Layout::kKnownSize) {
  Entry entry;
  entry.put(Layout::kStructSize, struct_size).put(Layout::kSchemaVersion, uint32_t{1});
  entry.put(Layout::kSource, static_cast<void*>(&entry)).put(Layout::kLength, uint64_t{4096});
  return entry;
}

Reason decode(const Entry& entry, size_t stride, EntryV1& out) {
  return decodeEntryV1(entry.bytes.data(), stride, 1, out).reason;
}

Reason decode(const Entry& entry, size_t stride = 4096) {
  EntryV1 out;
  return decode(entry, stride, out);
}

TEST_CASE("schema 1 on LP64 has the published sizes, and no other schema is known") {
  REQUIRE(schemaInfo(1) != nullptr);
  if (sizeof(void*) == 8) {
    CHECK(schemaInfo(1)->minimum_size == 48);
    CHECK(schemaInfo(1)->known_size == 88);
  }
  CHECK(schemaInfo(0) == nullptr);
  CHECK(schemaInfo(2) == nullptr);
}

TEST_CASE("the call is checked in order: overflow, schema, stride too small, too large, alignment") {
  Entry entry;
  const void* base = entry.bytes.data();
  const void* odd = entry.bytes.data() + 1;
  CHECK(checkEntries(odd, SIZE_MAX, 2, 9).reason == Reason::kCountOverflow);
  CHECK(checkEntries(odd, 1, 2, 9).reason == Reason::kSchemaUnknown);
  CHECK(checkEntries(odd, 1, 47, 1).reason == Reason::kStrideTooSmall);
  CHECK(checkEntries(odd, 1, 0, 1).reason == Reason::kStrideTooSmall);
  CHECK(checkEntries(odd, 1, 65537, 1).reason == Reason::kStrideTooLarge);
  CHECK(checkEntries(odd, 1, 88, 1).reason == Reason::kMisaligned);
  CHECK(checkEntries(base, 1, 92, 1).reason == Reason::kMisaligned);
  CHECK(checkEntries(base, 1, 65536, 1).reason == Reason::kNone);
  CHECK(checkEntries(base, SIZE_MAX / 88, 88, 1).reason == Reason::kNone);
  CHECK(checkEntries(base, SIZE_MAX / 88 + 1, 88, 1).reason == Reason::kCountOverflow);
}

TEST_CASE("a size is accepted where a field ends, from the minimum on, and anywhere past the known fields") {
  for (uint32_t size = 0; size <= 120; ++size) {
    const bool ends =
        size == 48 || size == 52 || size == 56 || size == 64 || size == 72 || size == 76 || size == 80 || size >= 88;
    const Reason expected = size < 48 ? Reason::kStructSizeTooSmall
                            : ends    ? Reason::kNone
                                      : Reason::kStructSizeSplitsField;
    CHECK(decode(goodEntry(size)) == expected);
  }
  CHECK(decode(goodEntry(4096)) == Reason::kNone);
  CHECK(decode(goodEntry(4097), 65536) == Reason::kStructSizeTooLarge);
  CHECK(decode(goodEntry(88), 80) == Reason::kStructSizeTooLarge);
}

TEST_CASE("the entry's schema is looked at after its size") {
  Entry entry = goodEntry(47);
  entry.put(Layout::kSchemaVersion, uint32_t{9});
  CHECK(decode(entry) == Reason::kStructSizeTooSmall);
  entry.put(Layout::kStructSize, uint32_t{88});
  CHECK(decode(entry) == Reason::kSchemaMismatch);
}

TEST_CASE("fields past the size take their defaults, whatever bytes lie there") {
  Entry entry = goodEntry();
  std::memset(entry.bytes.data() + Layout::kMinimumSize, 0xff, 200);
  entry.put(Layout::kStructSize, uint32_t{48});
  EntryV1 out;
  CHECK(decode(entry, 4096, out) == Reason::kNone);
  CHECK(out.fields.intent_type == 0);
  CHECK(out.fields.priority == 0);
  CHECK(out.fields.deadline.ns == 0);
  CHECK_FALSE(out.fields.policy_name);
  CHECK(out.fields.transport_hint == 0);
  CHECK(out.fields.flags == 0);
  CHECK_FALSE(out.fields.tail_nonzero);
  entry.put(Layout::kStructSize, uint32_t{56});
  CHECK(decode(entry, 4096, out) == Reason::kNone);
  CHECK(out.fields.intent_type == -1);
  CHECK(out.fields.priority == -1);
  CHECK(out.fields.deadline.ns == 0);
}

TEST_CASE("every field is read from its place") {
  const char* const name = "latency-critical";
  Entry entry = goodEntry();
  entry.put(Layout::kOpcode, int32_t{-2}).put(Layout::kReservedOpcode, uint32_t{3});
  entry.put(Layout::kTargetId, uint64_t{4}).put(Layout::kTargetOffset, uint64_t{5}).put(Layout::kLength, uint64_t{6});
  entry.put(Layout::kIntentType, int32_t{7})
      .put(Layout::kRequestedPriority, int32_t{8})
      .put(Layout::kDeadlineNs, uint64_t{9});
  entry.put(Layout::kPolicyName, name).put(Layout::kTransportHint, int32_t{10}).put(Layout::kReserved0, uint32_t{11});
  entry.put(Layout::kFlags, uint64_t{12});
  EntryV1 out;
  CHECK(decode(entry, 88, out) == Reason::kNone);
  CHECK(out.fields.opcode == -2);
  CHECK(out.fields.reserved_opcode == 3);
  CHECK(out.fields.has_source);
  CHECK(out.target_id == 4);
  CHECK(out.fields.target_offset == 5);
  CHECK(out.fields.length == 6);
  CHECK(out.fields.intent_type == 7);
  CHECK(out.fields.priority == 8);
  CHECK(out.fields.deadline.ns == 9);
  CHECK(out.fields.policy_name == name);
  CHECK(out.fields.transport_hint == 10);
  CHECK(out.fields.reserved0 == 11);
  CHECK(out.fields.flags == 12);
}

TEST_CASE("a tail is noted only when a byte of it is not zero, down to the last one") {
  EntryV1 out;
  Entry entry = goodEntry(4096);
  CHECK(decode(entry, 4096, out) == Reason::kNone);
  CHECK_FALSE(out.fields.tail_nonzero);
  entry.bytes[4095] = std::byte{1};
  CHECK(decode(entry, 4096, out) == Reason::kNone);
  CHECK(out.fields.tail_nonzero);
  entry.put(Layout::kStructSize, uint32_t{4088});
  CHECK(decode(entry, 4096, out) == Reason::kNone);
  CHECK_FALSE(out.fields.tail_nonzero);
}

TEST_CASE("an entry and a string that end at an unmapped page are read without touching it") {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<std::byte*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory + page, page, PROT_NONE) == 0);
  for (uint32_t size : {48u, 64u, 88u, 96u}) {
    const Entry entry = goodEntry(size);
    std::byte* at = memory + page - size;
    std::memcpy(at, entry.bytes.data(), size);
    EntryV1 out;
    CHECK(decodeEntryV1(at, size, 1, out).reason == Reason::kNone);
  }
  auto* name = reinterpret_cast<char*>(memory + page - 128);
  std::memset(name, 'x', 128);  // 128 bytes without an end: too long, and the 129th is never read
  Entry entry = goodEntry();
  entry.put(Layout::kPolicyName, static_cast<const char*>(name));
  EntryV1 out;
  CHECK(decode(entry, 88, out) == Reason::kNone);
  CHECK(out.fields.policy_name->size() == 128);
  munmap(memory, 2 * page);
}

}  // namespace
}  // namespace tent
