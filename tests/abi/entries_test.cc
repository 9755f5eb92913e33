// The compatibility matrix of the RFC, as far as entries go: each size, stride, alignment and place that an array may
// have, and callers that change it meanwhile.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "abi/c_engines.h"
#include "abi/guarded_page.h"

namespace tent::abi_test {
namespace {

constexpr size_t kMinimum = offsetof(tent_request_v1, intent_type);
constexpr size_t kKnown = sizeof(tent_request_v1);

// Entries `stride` apart that end where nothing can be read, each with its struct_size.
std::vector<char> arrayOf(const tent_request_v1_t& request, size_t count, size_t stride, uint32_t struct_size) {
  std::vector<char> bytes(count * stride);
  for (size_t i = 0; i < count; ++i) {
    if (stride < sizeof struct_size) continue;  // nothing is to be read of it
    std::memcpy(bytes.data() + i * stride, &request, std::min(stride, kKnown));
    std::memcpy(bytes.data() + i * stride, &struct_size, sizeof struct_size);
  }
  return bytes;
}

int expectedFor(size_t stride, size_t struct_size) {
  static const std::set<size_t> ends{48, 52, 56, 64, 72, 76, 80, 88};
  if (stride < kMinimum) return TENT_REASON_STRIDE_TOO_SMALL;
  if (stride > 65536) return TENT_REASON_STRIDE_TOO_LARGE;
  if (stride % 8 != 0) return TENT_REASON_MISALIGNED;
  if (struct_size < kMinimum) return TENT_REASON_STRUCT_SIZE_TOO_SMALL;
  if (struct_size > stride || struct_size > 4096) return TENT_REASON_STRUCT_SIZE_TOO_LARGE;
  if (struct_size < kKnown && !ends.contains(struct_size)) return TENT_REASON_STRUCT_SIZE_SPLITS_FIELD;
  return TENT_REASON_NONE;
}

TEST_CASE("minimum, longer, too small, too large and split entries: each stride with each size") {
  TwoCEngines two;
  tent_request_v1_t request = two.request(OPCODE_WRITE);
  request.transport_hint = TRANSPORT_SHM;
  const GuardedPage page;
  for (size_t stride = 0; stride <= 256; ++stride) {
    for (uint32_t struct_size = 0; struct_size <= 260; struct_size += (struct_size < 40 || struct_size > 100) ? 5 : 1) {
      const std::vector<char> bytes = arrayOf(request, 2, stride, struct_size);
      char* const entries = page.end() - (bytes.size() + 7) / 8 * 8;
      std::copy(bytes.begin(), bytes.end(), entries);
      const int expected = expectedFor(stride, struct_size);
      const tent_batch_id_t batch = tent_allocate_batch(two.initiator, 2);
      const int code = tent_submit_requests(two.initiator, batch, entries, 2, stride, TENT_REQUEST_SCHEMA_V1);
      const int reason = code == TENT_OK ? TENT_REASON_NONE : lastError().reason;
      if (reason != expected) {
        CAPTURE(stride);
        CAPTURE(struct_size);
        CHECK(reason == expected);
      }
      tent_wait_batch(two.initiator, batch, UINT64_MAX);
      CHECK(tent_free_batch(two.initiator, batch) == 0);
    }
  }
}

TEST_CASE("strides and sizes at their limits, and counts that overflow") {
  TwoCEngines two;
  const tent_request_v1_t request = two.request(OPCODE_WRITE);
  struct Case {
    size_t count;
    size_t stride;
    uint32_t struct_size;
    int reason;
  };
  for (const Case& one : {Case{1, 65536, 88, 0},
                          {1, 65544, 88, TENT_REASON_STRIDE_TOO_LARGE},
                          {1, SIZE_MAX, 88, TENT_REASON_STRIDE_TOO_LARGE},
                          {2, SIZE_MAX, 88, TENT_REASON_COUNT_OVERFLOW},
                          {SIZE_MAX / 88 + 1, 88, 88, TENT_REASON_COUNT_OVERFLOW},
                          {SIZE_MAX / 88, 88, 88, TENT_REASON_BATCH_FULL},
                          {1, 4096, 4096, 0},
                          {1, 4104, 4104, TENT_REASON_STRUCT_SIZE_TOO_LARGE},
                          {1, 88, UINT32_MAX, TENT_REASON_STRUCT_SIZE_TOO_LARGE}}) {
    CAPTURE(one.stride);
    CAPTURE(one.count);
    const std::vector<char> bytes = arrayOf(request, 1, 65544, one.struct_size);
    const int code = tent_submit_requests(two.initiator, two.batch, bytes.data(), one.count, one.stride, 1);
    CHECK((code == TENT_OK ? 0 : lastError().reason) == one.reason);
  }
}

TEST_CASE("a base at each misalignment is refused, and read by nobody") {
  TwoCEngines two;
  const tent_request_v1_t request = two.request(OPCODE_WRITE);
  alignas(16) char bytes[2 * kKnown + 16] = {};
  for (size_t off = 0; off < 16; ++off) {
    std::memcpy(bytes + off, &request, sizeof request);
    const int code = tent_submit_requests(two.initiator, two.batch, bytes + off, 1, kKnown, 1);
    CHECK(code == (off % 8 == 0 ? TENT_OK : TENT_ERROR_INVALID_LAYOUT));
    if (off % 8 != 0) CHECK(lastError().reason == TENT_REASON_MISALIGNED);
  }
}

TEST_CASE("schemas: unknown to the call, and another one in the entry") {
  TwoCEngines two;
  tent_request_v1_t request = two.request(OPCODE_WRITE);
  for (const uint32_t schema : {0u, 2u, UINT32_MAX}) {
    CHECK(tent_submit_requests(two.initiator, two.batch, &request, 1, kKnown, schema) == TENT_ERROR_UNSUPPORTED_SCHEMA);
    CHECK(lastError().reason == TENT_REASON_SCHEMA_UNKNOWN);
  }
  request.schema_version = 2;
  CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_ERROR_UNSUPPORTED_SCHEMA);
  CHECK(lastError().reason == TENT_REASON_SCHEMA_MISMATCH);
}

TEST_CASE("an entry at a page's end is read no further than it says") {
  TwoCEngines two;
  const GuardedPage page;
  for (const uint32_t size : {48u, 52u, 56u, 64u, 72u, 76u, 80u, 88u}) {
    CAPTURE(size);
    const tent_request_v1_t request = two.request(OPCODE_WRITE);
    const size_t stride = (size + 7) / 8 * 8;
    char* const entry = page.end() - stride;
    std::memcpy(entry, &request, size);
    std::memcpy(entry, &size, sizeof size);
    CHECK(tent_submit_requests(two.initiator, two.batch, entry, 1, stride, 1) == TENT_OK);
  }
  CHECK(two.wait() == TENT_OK);
  CHECK(two.overall() == STATUS_COMPLETED);
}

TEST_CASE("a policy name that ends at an unmapped page is read no further than 128 bytes or its end") {
  TwoCEngines two(R"({"policy": [{"name": "p", "segment_type": "memory", "transports": ["shm", "tcp"]}]})");
  const GuardedPage page;
  tent_request_v1_t request = two.request(OPCODE_WRITE);
  std::memcpy(page.end() - 2, "p", 2);
  request.policy_name = page.end() - 2;
  CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_OK);
  // 128 bytes without an end.
  std::memset(page.end() - 128, 'p', 128);
  request.policy_name = page.end() - 128;
  CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_ERROR_INVALID_POLICY);
  CHECK(lastError().reason == TENT_REASON_POLICY_TOO_LONG);
  *(page.end() - 1) = '\0';
  CHECK(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_ERROR_INVALID_POLICY);
  CHECK(lastError().reason == TENT_REASON_POLICY_UNKNOWN);
}

TEST_CASE("bytes behind what is known are ignored") {
  TwoCEngines two;
  const tent_request_v1_t request = two.request(OPCODE_WRITE);
  std::vector<char> bytes = arrayOf(request, 3, 128, 128);
  for (size_t i = 0; i < 3; ++i) bytes[i * 128 + 100] = 1;
  CHECK(tent_submit_requests(two.initiator, two.batch, bytes.data(), 3, 128, 1) == TENT_OK);
  CHECK(two.wait() == TENT_OK);
  CHECK(two.overall() == STATUS_COMPLETED);
}

TEST_CASE("options of other sizes: shorter ones take defaults, longer ones must not hold what is unknown") {
  TwoCEngines two;
  tent_request_v1_t request = two.request(OPCODE_WRITE);
  request.intent_type = 99;
  struct Longer {
    tent_submit_options_t options = TENT_SUBMIT_OPTIONS_INIT;
    uint64_t more = 0;
  } longer;
  longer.options.struct_size = sizeof longer;
  longer.options.mode = TENT_MODE_COMPAT;
  const auto submit = [&] {
    return tent_submit_requests_ex(two.initiator, two.batch, &request, 1, kKnown, 1, &longer.options, nullptr);
  };
  CHECK(submit() == TENT_OK);
  longer.more = 1;
  CHECK(submit() == TENT_ERROR_INVALID_FLAGS);
  longer.more = 0;
  longer.options.struct_size = 8;
  longer.options.notification_message = "not read";
  CHECK(submit() == TENT_OK);
  longer.options.struct_size = 7;
  CHECK(submit() == TENT_ERROR_INVALID_LAYOUT);
  longer.options = TENT_SUBMIT_OPTIONS_INIT;
  longer.options.mode = 2;
  CHECK(submit() == TENT_ERROR_INVALID_FLAGS);
  longer.options.mode = TENT_MODE_STRICT;
  CHECK(submit() == TENT_ERROR_INVALID_ENUM);
}

TEST_CASE("another thread that changes entries and names during the call passes no check") {
  TwoCEngines two(R"({"policy": [{"name": "good", "segment_type": "memory", "transports": ["shm", "tcp"]}]})");
  alignas(8) static tent_request_v1_t shared[16];
  static char name[8] = "good";
  for (tent_request_v1_t& request : shared) {
    request = two.request(OPCODE_WRITE);
    request.policy_name = name;
  }
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    // Through volatile, as another process's writes would come.
    volatile uint32_t* const size = &shared[7].struct_size;
    volatile int32_t* const opcode = &shared[9].opcode;
    volatile uint64_t* const length = &shared[11].length;
    volatile char* const letter = &name[1];
    while (!stop) {
      *size = 4096;
      *opcode = 7;
      *length = UINT64_MAX;
      *letter = '\n';
      *size = kKnown;
      *opcode = OPCODE_WRITE;
      *length = 64;
      *letter = 'o';
    }
  });
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    const tent_batch_id_t batch = tent_allocate_batch(two.initiator, 16);
    const int code = tent_submit_v1(two.initiator, batch, shared, 16);
    if (code == TENT_OK) {
      ++accepted;
      REQUIRE(tent_wait_batch(two.initiator, batch, UINT64_MAX) == TENT_OK);
      tent_status_t status{};
      REQUIRE(tent_overall_status(two.initiator, batch, &status) == 0);
      REQUIRE(status.status == STATUS_COMPLETED);
      REQUIRE(status.transferred_bytes == 16 * 64);
    } else {
      const int reason = lastError().reason;
      const bool known = reason == TENT_REASON_STRUCT_SIZE_TOO_LARGE || reason == TENT_REASON_UNKNOWN_OPCODE ||
                         reason == TENT_REASON_RANGE_OVERFLOW || reason == TENT_REASON_OUT_OF_RANGE ||
                         reason == TENT_REASON_POLICY_BAD_CHARACTER;
      if (!known) CHECK(reason == 0);
    }
    CHECK(tent_free_batch(two.initiator, batch) == 0);
  }
  stop = true;
  changer.join();
  MESSAGE("accepted ", accepted, " of 3000");
}

}  // namespace
}  // namespace tent::abi_test
