// The structs that begin with struct_size, of each size that a caller of another version may have, or a careless one:
// crossed as the kernel's self-test of openat2 does.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "abi/c_engines.h"
#include "abi/guarded_page.h"

namespace tent::abi_test {
namespace {

constexpr uint32_t kSizeMax = 4096;

// Written independently of the library: where struct_size of a 64-bit caller may end.
const std::vector<uint32_t> kResultEnds{8, 12, 16, 24, 32, 40, 48, 56, 568};
const std::vector<uint32_t> kSubmitEnds{8, 16, 24};
const std::vector<uint32_t> kExplainEnds{8, 16, 24, 28, 32};
const std::vector<uint32_t> kNormalizedEnds{8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 192, 196, 200, 392};

int expectedOf(const std::vector<uint32_t>& ends, uint32_t size) {
  if (size < ends.front()) return TENT_REASON_STRUCT_SIZE_TOO_SMALL;
  if (size > kSizeMax) return TENT_REASON_STRUCT_SIZE_TOO_LARGE;
  if (size < ends.back() && std::find(ends.begin(), ends.end(), size) == ends.end()) {
    return TENT_REASON_STRUCT_SIZE_SPLITS_FIELD;
  }
  return TENT_REASON_NONE;
}

std::vector<uint32_t> sizesUpTo(uint32_t known) {
  std::vector<uint32_t> sizes;
  for (uint32_t size = 0; size <= known + 40; ++size) sizes.push_back(size);
  for (const uint32_t size : {kSizeMax - 1, kSizeMax, kSizeMax + 1, UINT32_MAX}) sizes.push_back(size);
  return sizes;
}

// The place of a struct of that size, so that its end is the page's, filled with `filling` behind struct_size. Where
// less is there than struct_size itself, or more than a page, the size is refused before more is touched.
char* placeOf(const GuardedPage& page, uint32_t size, int filling) {
  const uint32_t there = size < 8 || size > kSizeMax ? 8 : size;
  // The fields are aligned as a caller's would be.
  char* const place = page.end() - (there + 7) / 8 * 8;
  std::memset(place, filling, (there + 7) / 8 * 8);
  std::memcpy(place, &size, sizeof size);
  return place;
}

int reasonOf(int code) {
  return code == TENT_OK ? TENT_REASON_NONE : lastError().reason;
}

// `call` fills in the struct at the place.
void checkOutput(const std::vector<uint32_t>& ends, const std::function<int(char*)>& call) {
  const GuardedPage page;
  for (const uint32_t size : sizesUpTo(ends.back())) {
    char* const place = placeOf(page, size, 0x5a);
    const int expected = expectedOf(ends, size);
    const int code = call(place);
    if (reasonOf(code) != expected) {
      CAPTURE(size);
      CHECK(reasonOf(code) == expected);
    }
    uint32_t left = 0;
    std::memcpy(&left, place, sizeof left);
    CHECK(left == size);
    if (expected != TENT_REASON_NONE) {
      CHECK(place[4] == 0x5a);
      CHECK(std::string(lastError().message).find(std::to_string(size)) != std::string::npos);
      continue;
    }
    // Not a byte behind the size, and zeros from what is known up to it.
    CHECK(std::all_of(place + size, page.end(), [](char byte) { return byte == 0x5a; }));
    if (size > ends.back()) CHECK(std::all_of(place + ends.back(), place + size, [](char byte) { return byte == 0; }));
  }
}

TEST_CASE("results of each size are filled in that far, with zeros behind what is known") {
  TwoCEngines two;
  const tent_request_v1_t request = two.request(OPCODE_WRITE);
  REQUIRE(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_OK);
  REQUIRE(two.wait() == TENT_OK);
  checkOutput(kResultEnds, [](char* place) { return tent_last_error(reinterpret_cast<tent_result_t*>(place)); });
  checkOutput(kResultEnds, [&](char* place) {
    return tent_task_error(two.initiator, two.batch, 0, reinterpret_cast<tent_result_t*>(place));
  });
  checkOutput(kResultEnds, [&](char* place) {
    return tent_submit_requests_ex(two.initiator, two.batch, nullptr, 0, sizeof request, 1, nullptr,
                                   reinterpret_cast<tent_result_t*>(place));
  });
}

TEST_CASE("a normalized intent of each size is filled in that far, with zeros behind what is known") {
  TwoCEngines two;
  const tent_request_v1_t request = two.request(OPCODE_WRITE);
  checkOutput(kNormalizedEnds, [&](char* place) {
    return tent_normalize_request(&request, sizeof request, 1, TENT_MODE_STRICT, 0,
                                  reinterpret_cast<tent_normalized_intent_t*>(place));
  });
}

// Options that are all zero but for their size; those that this library knows are good so.
void checkOptions(const std::vector<uint32_t>& ends, const std::function<int(const char*)>& call) {
  const GuardedPage page;
  for (const uint32_t size : sizesUpTo(ends.back())) {
    CAPTURE(size);
    char* const place = placeOf(page, size, 0);
    const int expected = expectedOf(ends, size);
    CHECK(reasonOf(call(place)) == expected);
    if (expected != TENT_REASON_NONE || size <= ends.back()) continue;
    // A field of a later version that is in use.
    place[size - 1] = 1;
    CHECK(reasonOf(call(place)) == TENT_REASON_RESERVED_NONZERO);
    CHECK(std::string(lastError().message).find(std::to_string(ends.back())) != std::string::npos);
  }
}

TEST_CASE("options of each size: shorter ones take defaults, longer ones hold nothing that is not known") {
  TwoCEngines two;
  checkOptions(kSubmitEnds, [&](const char* place) {
    return tent_submit_requests_ex(two.initiator, two.batch, nullptr, 0, sizeof(tent_request_v1_t), 1,
                                   reinterpret_cast<const tent_submit_options_t*>(place), nullptr);
  });
  checkOptions(kExplainEnds, [&](const char* place) {
    size_t len = 0;
    return tent_explain_requests(two.initiator, nullptr, 0, sizeof(tent_request_v1_t), 1,
                                 reinterpret_cast<const tent_explain_options_t*>(place), nullptr, &len);
  });
}

}  // namespace
}  // namespace tent::abi_test
