#include <cstring>

#include <doctest/doctest.h>

#include "intent/entry.h"
#include "intent/normalize.h"
#include "support/allocations.h"

namespace tent {
namespace {

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
