// Memory that is not mapped, or not for what a transfer does with it: that transfer fails and says why, and nothing
// else comes to harm.
#include <algorithm>
#include <cstdint>
#include <string>

#include <sys/mman.h>

#include "abi/c_engines.h"

namespace tent::abi_test {
namespace {

enum class State { kReadWrite, kReadOnly, kNoAccess, kUnmapped, kPartlyUnmapped };

constexpr size_t kBytes = TwoCEngines::kBytes;

// Pages of the application's own, at the low end of a wide range of which the high end is free again: what others map
// meanwhile comes there, the kernel taking the highest place, and not where pages of these are unmapped.
class Pages {
 public:
  explicit Pages(int protection = PROT_READ | PROT_WRITE)
      : begin_(
            static_cast<char*>(mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    REQUIRE(begin_ != MAP_FAILED);
    REQUIRE(munmap(begin_ + kRange / 2, kRange / 2) == 0);
    REQUIRE(mprotect(begin_, kBytes, protection) == 0);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(begin_, kRange / 2); }

  char* data() const { return begin_; }
  // Brings them into the state; `registered`: called between what an engine may see and what it may not.
  template <typename Register>
  void bring(State state, Register registered) {
    if (state == State::kReadOnly) REQUIRE(mprotect(begin_, kBytes, PROT_READ) == 0);
    if (state == State::kNoAccess) REQUIRE(mprotect(begin_, kBytes, PROT_NONE) == 0);
    registered();
    if (state == State::kUnmapped) REQUIRE(munmap(begin_, kBytes) == 0);
    if (state == State::kPartlyUnmapped) REQUIRE(munmap(begin_ + kBytes / 2, kBytes / 2) == 0);
  }

 private:
  static constexpr size_t kRange = size_t{1} << 30;
  char* begin_;
};

// Which memory of a transfer is in the state.
enum class Side { kSource, kRegisteredSource, kTarget, kOwnSegment };

struct Trial {
  int transport;
  State state;
  Side side;
  int opcode;
  size_t length;
};

bool mayEndWell(const Trial& trial) {
  const bool written_to = (trial.side == Side::kSource || trial.side == Side::kRegisteredSource)
                              ? trial.opcode == OPCODE_READ
                              : trial.opcode == OPCODE_WRITE;
  switch (trial.state) {
    case State::kReadWrite: return true;
    case State::kReadOnly: return !written_to;
    case State::kPartlyUnmapped: return trial.length <= kBytes / 2;
    default: return false;
  }
}

void carryOut(const Trial& trial) {
  CAPTURE(trial.transport);
  CAPTURE(static_cast<int>(trial.state));
  CAPTURE(static_cast<int>(trial.side));
  CAPTURE(trial.opcode);
  CAPTURE(trial.length);
  TwoCEngines two;
  Pages pages;
  const tent_engine_t owner = trial.side == Side::kTarget ? two.target : two.initiator;
  pages.bring(trial.state, [&] {
    if (trial.side != Side::kSource) REQUIRE(tent_register_memory(owner, pages.data(), kBytes) == 0);
  });
  tent_request_v1_t request = two.request(trial.opcode, 0, trial.length);
  request.transport_hint = trial.transport;
  if (trial.side == Side::kOwnSegment) request.target_id = LOCAL_SEGMENT_ID;
  if (trial.side == Side::kSource || trial.side == Side::kRegisteredSource) {
    request.source = pages.data();
  } else {
    request.target_offset = reinterpret_cast<uint64_t>(pages.data());
  }
  REQUIRE(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_OK);
  REQUIRE(two.wait() == TENT_OK);
  tent_result_t why = TENT_RESULT_INIT;
  REQUIRE(tent_task_error(two.initiator, two.batch, 0, &why) == TENT_OK);
  CAPTURE(why.message);
  const std::string message = why.message;
  CHECK(two.statusOf(0) == (mayEndWell(trial) ? STATUS_COMPLETED : STATUS_FAILED));
  if (!mayEndWell(trial)) CHECK((message.find("mapped") != message.npos || message.find("may not") != message.npos));

  tent_request_v1_t good = two.request(trial.opcode, 0, 64);
  good.transport_hint = trial.transport;
  const tent_batch_id_t batch = tent_allocate_batch(two.initiator, 1);
  REQUIRE(tent_submit_v1(two.initiator, batch, &good, 1) == TENT_OK);
  REQUIRE(tent_wait_batch(two.initiator, batch, UINT64_MAX) == TENT_OK);
  tent_status_t status{};
  REQUIRE(tent_task_status(two.initiator, batch, 0, &status) == 0);
  CHECK(status.status == STATUS_COMPLETED);
}

TEST_CASE("memory that is not mapped, or not for this, fails its task, on each side and over each transport") {
  for (const Side side : {Side::kSource, Side::kRegisteredSource, Side::kTarget, Side::kOwnSegment}) {
    for (const State state :
         {State::kReadWrite, State::kReadOnly, State::kNoAccess, State::kUnmapped, State::kPartlyUnmapped}) {
      for (const int transport : {TRANSPORT_SHM, TRANSPORT_TCP}) {
        for (const int opcode : {OPCODE_WRITE, OPCODE_READ}) {
          for (const size_t length : {size_t{64}, size_t{20'000}, kBytes}) {
            carryOut({transport, state, side, opcode, length});
          }
        }
      }
    }
  }
}

TEST_CASE("what is not mapped fails alone: what goes with it over the same link completes") {
  for (const int transport : {TRANSPORT_SHM, TRANSPORT_TCP}) {
    CAPTURE(transport);
    TwoCEngines two;
    Pages pages;
    pages.bring(State::kUnmapped, [&] { REQUIRE(tent_register_memory(two.initiator, pages.data(), kBytes) == 0); });
    std::vector<tent_request_v1_t> requests(16, two.request(OPCODE_WRITE, 0, 4096));
    for (tent_request_v1_t& request : requests) request.transport_hint = transport;
    requests[7].source = pages.data();
    REQUIRE(tent_submit_v1(two.initiator, two.batch, requests.data(), requests.size()) == TENT_OK);
    REQUIRE(two.wait() == TENT_OK);
    for (size_t i = 0; i < requests.size(); ++i) {
      CAPTURE(i);
      CHECK(two.statusOf(i) == (i == 7 ? STATUS_FAILED : STATUS_COMPLETED));
    }
  }
}

TEST_CASE("memory may be registered first and given its pages later") {
  for (const int transport : {TRANSPORT_SHM, TRANSPORT_TCP}) {
    for (const bool at_target : {false, true}) {
      CAPTURE(transport);
      CAPTURE(at_target);
      TwoCEngines two;
      const Pages pages(PROT_NONE);
      REQUIRE(tent_register_memory(at_target ? two.target : two.initiator, pages.data(), kBytes) == 0);
      REQUIRE(mprotect(pages.data(), kBytes, PROT_READ | PROT_WRITE) == 0);
      tent_request_v1_t request = two.request(OPCODE_WRITE, 0, kBytes);
      request.transport_hint = transport;
      std::fill(two.local.begin(), two.local.end(), static_cast<unsigned char>(5));
      std::fill(two.remote, two.remote + kBytes, static_cast<unsigned char>(5));
      if (at_target) {
        request.target_offset = reinterpret_cast<uint64_t>(pages.data());
      } else {
        request.opcode = OPCODE_READ;
        request.source = pages.data();
      }
      REQUIRE(tent_submit_v1(two.initiator, two.batch, &request, 1) == TENT_OK);
      REQUIRE(two.wait() == TENT_OK);
      CHECK(two.statusOf(0) == STATUS_COMPLETED);
      CHECK(pages.data()[kBytes - 1] == 5);
    }
  }
}

}  // namespace
}  // namespace tent::abi_test
