// What the behaviour checks share: two engines of the library, requests between them, and what is expected of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tent-abi-check/behaviour.h"

namespace tent::tool {

inline constexpr size_t kMinimumSize = offsetof(tent_request_v1, intent_type);
inline constexpr size_t kKnownSize = sizeof(tent_request_v1);
inline constexpr uint64_t kWaitNs = 10'000'000'000;

void require(bool met, const std::string& otherwise);

// Refusals: what a call must give, by the constants of the header.
struct Refusal {
  int code = TENT_OK;
  int reason = TENT_REASON_NONE;
  int field = -1;  // TENT_FIELD_*; -1: any
};
// `what` is what was done, as in "a stride of 47".
void requireRefused(const Api& api, int code, const Refusal& expected, const std::string& what);
void requireAccepted(const Api& api, int code, const std::string& what);

tent_result_t lastError(const Api& api);
// "invalid_layout (misaligned): ..." of the last call; "it was accepted" where `code` is none.
std::string answerText(const Api& api, int code);

// An initiator and a target with kBytes each, in this process.
class Trial {
 public:
  static constexpr size_t kBytes = 1u << 16;

  explicit Trial(const Api& api, const std::string& config = "");
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial();

  const Api& api;
  tent_engine_t target = nullptr;
  tent_engine_t initiator = nullptr;
  tent_segment_id_t segment = 0;
  tent_batch_id_t batch = 0;
  std::vector<unsigned char> local;
  unsigned char* remote = nullptr;

  tent_request_v1_t request(size_t offset = 0, size_t length = 64);  // a write
  tent_request_t legacy(int opcode, size_t offset = 0, size_t length = 64);
  int submit(const void* entries, size_t count = 1, size_t stride = kKnownSize,
             uint32_t schema = TENT_REQUEST_SCHEMA_V1);
  int submit(const tent_request_v1_t& one) { return submit(&one); }
  // Polls as deployed clients do, so that it needs no function of v1. The final status of the batch.
  int finish();
  // How many tasks the batch has.
  size_t tasks();
  bool arrived(size_t offset, size_t length) const;
  // Nothing has moved and no task exists.
  void requireUntouched(const std::string& after);

 private:
  template <typename Request>
  Request between(Request out, int opcode, size_t offset, size_t length);
};

// Memory that ends where the next page cannot be read.
class GuardedPage {
 public:
  GuardedPage();
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  ~GuardedPage();
  char* end() const { return begin_ + bytes_; }

 private:
  size_t bytes_;
  char* begin_;
};

}  // namespace tent::tool
