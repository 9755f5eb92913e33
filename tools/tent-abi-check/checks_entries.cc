// Arrays of entries: their sizes, strides, alignment and ends.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "tent-abi-check/trial.h"

namespace tent::tool {
namespace {

// Where struct_size may end: behind `length` and each field that follows.
constexpr std::array<uint32_t, 8> kFieldEnds{
    static_cast<uint32_t>(kMinimumSize),       offsetof(tent_request_v1, requested_priority),
    offsetof(tent_request_v1, deadline_ns),    offsetof(tent_request_v1, policy_name),
    offsetof(tent_request_v1, transport_hint), offsetof(tent_request_v1, reserved0),
    offsetof(tent_request_v1, flags),          static_cast<uint32_t>(kKnownSize)};

constexpr size_t roundUp(size_t size) {
  return (size + alignof(tent_request_v1) - 1) / alignof(tent_request_v1) * alignof(tent_request_v1);
}

// Submits entries of one size, `stride` apart, that end where nothing can be read.
int submitSized(Trial& trial, size_t stride, uint32_t struct_size, size_t count = 1) {
  const GuardedPage page;
  char* const entries = page.end() - roundUp(count * stride);
  for (size_t i = 0; i < count; ++i) {
    const tent_request_v1_t request = trial.request(i * 64);
    std::memcpy(entries + i * stride, &request, std::min(stride, kKnownSize));
    if (stride >= sizeof struct_size) std::memcpy(entries + i * stride, &struct_size, sizeof struct_size);
  }
  return trial.submit(entries, count, stride);
}

std::string sizesAccepted(const Api& api) {
  Trial trial(api);
  for (const uint32_t size : kFieldEnds) {
    requireAccepted(api, submitSized(trial, roundUp(size), size), fmt::format("struct_size {} at a page's end", size));
  }
  require(trial.finish() == STATUS_COMPLETED, "an accepted entry did not complete");
  return "each end of a field, none read further than it says";
}

std::string sizesRefused(const Api& api) {
  Trial trial(api);
  const auto refused = [&](size_t stride, uint32_t size, int reason) {
    requireRefused(api, submitSized(trial, stride, size), {TENT_ERROR_INVALID_LAYOUT, reason},
                   fmt::format("struct_size {} with stride {}", size, stride));
  };
  refused(kKnownSize, 0, TENT_REASON_STRUCT_SIZE_TOO_SMALL);
  refused(kKnownSize, kMinimumSize - 1, TENT_REASON_STRUCT_SIZE_TOO_SMALL);
  refused(kMinimumSize, kKnownSize, TENT_REASON_STRUCT_SIZE_TOO_LARGE);
  refused(kKnownSize, std::numeric_limits<uint32_t>::max(), TENT_REASON_STRUCT_SIZE_TOO_LARGE);
  for (uint32_t size = kMinimumSize; size < kKnownSize; ++size) {
    if (std::find(kFieldEnds.begin(), kFieldEnds.end(), size) != kFieldEnds.end()) continue;
    refused(kKnownSize, size, TENT_REASON_STRUCT_SIZE_SPLITS_FIELD);
  }
  trial.requireUntouched("entries of wrong sizes");
  return "too small, too large, and each size that splits a field";
}

std::string sizesDefaults(const Api& api) {
  Trial trial(api);
  tent_request_v1_t request = trial.request();
  request.struct_size = kMinimumSize;
  // None of this is the library's to look at.
  request.intent_type = 99;
  request.requested_priority = 99;
  request.deadline_ns = 1;
  request.policy_name =
      reinterpret_cast<const char*>(uintptr_t{1});  // NOLINT(performance-no-int-to-ptr): never followed
  request.transport_hint = 99;
  request.flags = 1;
  requireAccepted(api, trial.submit(request), "struct_size 48 before fields that are wrong");
  require(trial.finish() == STATUS_COMPLETED && trial.arrived(0, 64), "a shortest entry did not move its bytes");
  return "fields behind struct_size take their defaults";
}

std::string stridesRefused(const Api& api) {
  Trial trial(api);
  const auto refused = [&](size_t stride, int reason) {
    const tent_request_v1_t request = trial.request();
    requireRefused(api, trial.submit(&request, 1, stride), {TENT_ERROR_INVALID_LAYOUT, reason},
                   fmt::format("a stride of {}", stride));
  };
  for (const size_t stride : {size_t{0}, size_t{8}, kMinimumSize - 8}) refused(stride, TENT_REASON_STRIDE_TOO_SMALL);
  for (const size_t stride : {size_t{65544}, std::numeric_limits<size_t>::max() - 7}) {
    refused(stride, TENT_REASON_STRIDE_TOO_LARGE);
  }
  trial.requireUntouched("strides that are refused");
  return "under the minimum size, and over 65536";
}

std::string stridesWalked(const Api& api) {
  Trial trial(api);
  for (const size_t stride : {kMinimumSize, kKnownSize, size_t{128}, size_t{256}}) {
    const auto size = static_cast<uint32_t>(std::min(stride, kKnownSize));
    requireAccepted(api, submitSized(trial, stride, size, 3), fmt::format("three entries {} bytes apart", stride));
    require(trial.finish() == STATUS_COMPLETED && trial.arrived(0, 3 * 64),
            fmt::format("entries {} bytes apart did not each move their bytes", stride));
    std::memset(trial.remote, 0, 3 * 64);
  }
  return "entries are found at the caller's stride, not at the library's size";
}

std::string misalignment(const Api& api) {
  Trial trial(api);
  const tent_request_v1_t request = trial.request();
  alignas(16) std::array<char, 2 * kKnownSize + 16> bytes{};
  for (size_t off = 1; off < alignof(tent_request_v1); ++off) {
    std::memcpy(bytes.data() + off, &request, sizeof request);
    requireRefused(api, trial.submit(bytes.data() + off), {TENT_ERROR_INVALID_LAYOUT, TENT_REASON_MISALIGNED},
                   fmt::format("entries {} bytes off", off));
    requireRefused(api, trial.submit(bytes.data(), 1, kKnownSize + off),
                   {TENT_ERROR_INVALID_LAYOUT, TENT_REASON_MISALIGNED},
                   fmt::format("a stride of {}", kKnownSize + off));
  }
  trial.requireUntouched("misaligned entries");
  return "every misaligned base and stride";
}

std::string overflow(const Api& api) {
  Trial trial(api);
  const tent_request_v1_t request = trial.request();
  const size_t most = std::numeric_limits<size_t>::max();
  requireRefused(api, trial.submit(&request, most / kKnownSize + 1),
                 {TENT_ERROR_INVALID_LAYOUT, TENT_REASON_COUNT_OVERFLOW}, "a count times the stride that overflows");
  requireRefused(api, trial.submit(&request, most), {TENT_ERROR_INVALID_LAYOUT, TENT_REASON_COUNT_OVERFLOW},
                 "SIZE_MAX entries");
  tent_request_v1_t wrapped = request;
  wrapped.target_offset = std::numeric_limits<uint64_t>::max() - 8;
  requireRefused(api, trial.submit(wrapped), {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_RANGE_OVERFLOW},
                 "a target_offset whose end wraps");
  trial.requireUntouched("sums that overflow");
  return "count times stride, and target_offset plus length";
}

std::string tail(const Api& api) {
  size_t known = 0;
  require(api.tent_get_request_schema_info(TENT_REQUEST_SCHEMA_V1, nullptr, &known) == TENT_OK,
          "schema 1 is not served");
  // As a client of a later header: a longer entry, with something in what this library does not know.
  const size_t size = roundUp(known) + 32;
  Trial trial(api);
  std::vector<uint64_t> bytes(2 * size / 8, 0);
  for (size_t i = 0; i < 2; ++i) {
    tent_request_v1_t request = trial.request(i * 64);
    request.struct_size = static_cast<uint32_t>(size);
    auto* const entry = reinterpret_cast<char*>(bytes.data()) + i * size;
    std::memcpy(entry, &request, sizeof request);
    std::memset(entry + known, 0x5a, size - known);
  }
  requireAccepted(api, trial.submit(bytes.data(), 2, size), fmt::format("entries of {} bytes, {} known", size, known));
  require(trial.finish() == STATUS_COMPLETED && trial.arrived(0, 128), "longer entries did not move their bytes");
  return "what lies behind the known size is ignored";
}

std::string countZero(const Api& api) {
  Trial trial(api);
  requireAccepted(api, trial.submit(nullptr, 0), "no entries at NULL");
  requireAccepted(api, trial.submit(nullptr, 0, 0), "no entries, stride 0");
  requireRefused(api, trial.submit(nullptr, 1), {TENT_ERROR_INVALID_ARGUMENT, TENT_REASON_NULL_ENTRIES},
                 "one entry at NULL");
  trial.requireUntouched("no entries");
  return "does nothing, and is no error";
}

constexpr std::array<BehaviourCheck, 9> kEntryChecks{{
    {"sizes.accepted", Needs::kV1, sizesAccepted},
    {"sizes.refused", Needs::kV1, sizesRefused},
    {"sizes.defaults", Needs::kV1, sizesDefaults},
    {"strides.refused", Needs::kV1, stridesRefused},
    {"strides.walked", Needs::kV1, stridesWalked},
    {"misalignment", Needs::kV1, misalignment},
    {"overflow", Needs::kV1, overflow},
    {"tail", Needs::kV1, tail},
    {"count_zero", Needs::kV1, countZero},
}};

}  // namespace

std::span<const BehaviourCheck> entryChecks() {
  return kEntryChecks;
}

}  // namespace tent::tool
