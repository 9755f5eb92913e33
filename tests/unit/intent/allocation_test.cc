// Counts heap allocations, by replacing the global operator new of this test program.
#include <cstdlib>
#include <cstring>
#include <new>

#include <doctest/doctest.h>

#include "intent/entry.h"
#include "intent/normalize.h"

namespace {
size_t allocations = 0;
}

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace tent {
namespace {

template <typename Work>
size_t allocationsOf(Work work) {
  const size_t before = allocations;
  work();
  return allocations - before;
}

TEST_CASE("the count sees an allocation") {
  CHECK(allocationsOf([] { delete new int(7); }) == 1);
}

TEST_CASE("normalizing allocates nothing, accepted or rejected, with downgrades and with a valid policy name") {
  RequestFields fields;
  fields.length = 4096;
  fields.intent_type = 99;
  fields.priority = 99;
  fields.flags = uint64_t{1} << 40;
  fields.deadline.ns = 5;
  RequestedIntent out;
  CHECK(allocationsOf([&] { normalizeRequest(fields, ValidationMode::kCompat, 1, out); }) == 0);
  CHECK(allocationsOf([&] { normalizeRequest(fields, ValidationMode::kStrict, 1, out); }) == 0);
  fields.policy_name = "a-policy-name-that-is-longer-than-any-small-string-buffer";
  CHECK(allocationsOf([&] { normalizeRequest(fields, ValidationMode::kCompat, 1, out); }) == 0);
  CHECK(out.policy_name.view() == *fields.policy_name);
}

TEST_CASE("reading an entry allocates nothing") {
  alignas(8) std::byte bytes[EntryV1Layout::kKnownSize] = {};
  const uint32_t header[] = {EntryV1Layout::kKnownSize, 1};
  std::memcpy(bytes, header, sizeof header);
  EntryV1 out;
  CHECK(allocationsOf([&] { CHECK_FALSE(checkEntries(bytes, 1, sizeof bytes, 1)); }) == 0);
  CHECK(allocationsOf([&] { static_cast<void>(decodeEntryV1(bytes, sizeof bytes, 1, out)); }) == 0);
}

}  // namespace
}  // namespace tent
