#include "engine/lane.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/peer.h"

namespace tent {
namespace {

const Error kLost = errorOf(Reason::kPeerLost, "lost");

// A link of which the test decides when transfers end.
class HandLink final : public Link {
 public:
  explicit HandLink(std::vector<uint64_t>& taken) : taken_(taken) {}
  void submit(std::span<const Transfer> transfers) override {
    for (const Transfer& transfer : transfers) taken_.push_back(transfer.token);
  }
  bool cancel(uint64_t /*token*/) override { return false; }
  Error waitReady(uint64_t /*timeout_ns*/) override { return {}; }
  void close(const Error& /*why*/) override { closed = true; }
  bool ended() const override { return has_ended; }

  bool closed = false;
  bool has_ended = false;

 private:
  std::vector<uint64_t>& taken_;
};

struct LaneFixture : LaneHost {
  LaneFixture() {
    capabilities.name = "tcp";
    capabilities.queue_transfers = 2;
    peer = std::make_shared<Peer>("node-b:1", std::vector{asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 1)},
                                  loop, std::make_shared<const ControlSecurity>());
    lane = std::make_shared<Lane>(Transport::kTcp, capabilities, *peer, *this);
  }

  void openLink(const std::shared_ptr<Lane>& /*lane*/) noexcept override { ++opens; }
  void attemptEnded(Task& task, const Completion& completion) noexcept override {
    ended.emplace_back(&task, completion.reason);
  }
  uint64_t nextDispatchOrder() noexcept override { return ++order; }

  HandLink* attach() {
    auto link = std::make_unique<HandLink>(taken);
    HandLink* raw = link.get();
    lane->attach(std::move(link));
    return raw;
  }
  void push(Task& task, Priority priority) {
    task.priority = priority;
    task.transfer.length = 10;
    task.buffer = &buffer;
    Task* const one = &task;
    lane->push({&one, 1});
  }
  void complete(Task& task, Reason reason = Reason::kNone) {
    Completion completion;
    completion.token = reinterpret_cast<uintptr_t>(&task);
    completion.reason = reason;
    lane->completed(std::move(completion));
  }
  bool took(std::vector<Task*> expected) const {
    return std::equal(taken.begin(), taken.end(), expected.begin(), expected.end(),
                      [](uint64_t token, Task* task) { return token == reinterpret_cast<uintptr_t>(task); });
  }

  Loop loop{"test"};
  Capabilities capabilities;
  std::shared_ptr<Peer> peer;
  std::shared_ptr<Lane> lane;
  PeerBuffer buffer;
  int opens = 0;
  uint64_t order = 0;
  std::vector<uint64_t> taken;
  std::vector<std::pair<Task*, Reason>> ended;
};

}  // namespace

TEST_CASE("tasks are dispatched by priority, then in the order they came") {
  LaneFixture f;
  std::array<Task, 6> tasks;
  f.push(tasks[0], Priority::kLow);
  f.push(tasks[1], Priority::kMedium);
  f.push(tasks[2], Priority::kHigh);
  f.push(tasks[3], Priority::kLow);
  f.push(tasks[4], Priority::kHigh);
  CHECK(f.opens == 1);
  CHECK(f.taken.empty());
  f.attach();
  CHECK(f.took({&tasks[2], &tasks[4]}));  // the link takes two at once
  f.push(tasks[5], Priority::kHigh);
  f.complete(tasks[2]);
  f.complete(tasks[4]);
  f.complete(tasks[5]);
  f.complete(tasks[1]);
  CHECK(f.took({&tasks[2], &tasks[4], &tasks[5], &tasks[1], &tasks[0], &tasks[3]}));
  CHECK(tasks[2].dispatch_order == 1);
  CHECK(tasks[3].dispatch_order == 6);
}

TEST_CASE("more bytes than the link has use for wait, but one task of any size goes") {
  LaneFixture f;
  f.capabilities.queue_transfers = 100;
  f.capabilities.queue_bytes = 5;
  f.lane = std::make_shared<Lane>(Transport::kTcp, f.capabilities, *f.peer, f);
  std::array<Task, 2> tasks;
  f.attach();
  f.push(tasks[0], Priority::kHigh);
  f.push(tasks[1], Priority::kHigh);
  CHECK(f.took({&tasks[0]}));
  f.complete(tasks[0]);
  CHECK(f.took({&tasks[0], &tasks[1]}));
}

TEST_CASE("a link that cannot be opened fails what waits, and is tried again for what comes later") {
  LaneFixture f;
  std::array<Task, 2> tasks;
  f.push(tasks[0], Priority::kHigh);
  f.lane->openFailed(errorOf(Reason::kPeerUnreachable, "gone"));
  REQUIRE(f.ended.size() == 1);
  CHECK(f.ended[0].second == Reason::kPeerUnreachable);
  CHECK(tasks[0].attempt_count == 1);
  CHECK(tasks[0].dispatch_order == 0);
  f.push(tasks[1], Priority::kHigh);
  CHECK(f.opens == 2);
}

TEST_CASE("what has not begun when a link ends goes over the next one") {
  LaneFixture f;
  std::array<Task, 3> tasks;
  HandLink* link = f.attach();
  for (Task& task : tasks) f.push(task, Priority::kHigh);
  link->has_ended = true;
  f.complete(tasks[0], Reason::kPeerLost);
  f.complete(tasks[1], Reason::kPeerLost);
  CHECK(f.took({&tasks[0], &tasks[1]}));  // the third was not thrown after them
  f.lane->closed(kLost);
  CHECK(f.opens == 1);
  f.attach();
  CHECK(f.took({&tasks[0], &tasks[1], &tasks[2]}));
}

TEST_CASE("a link that ends before it is handed over fails what waits for it") {
  LaneFixture f;
  Task task;
  f.push(task, Priority::kHigh);
  f.lane->closed(kLost);
  f.attach();
  REQUIRE(f.ended.size() == 1);
  CHECK(f.ended[0].second == Reason::kPeerLost);
}

TEST_CASE("a waiting task is taken back, one that was handed over is the link's") {
  LaneFixture f;
  std::array<Task, 3> tasks;
  f.attach();
  for (Task& task : tasks) f.push(task, Priority::kMedium);
  CHECK_FALSE(f.lane->cancel(tasks[0]));
  CHECK(f.lane->cancel(tasks[2]));
  REQUIRE(f.ended.size() == 1);
  CHECK(f.ended[0] == std::pair(&tasks[2], Reason::kCanceled));
  CHECK(tasks[2].attempt_count == 0);
  f.complete(tasks[0]);
  f.complete(tasks[1]);
  CHECK(f.took({&tasks[0], &tasks[1]}));
}

TEST_CASE("a task that has been reported is not reported again by a cancel that comes after the end of its link") {
  LaneFixture f;
  Task task;
  f.attach();
  f.push(task, Priority::kMedium);
  f.complete(task, Reason::kPeerLost);
  f.lane->closed(kLost);
  CHECK_FALSE(f.lane->cancel(task));
  CHECK(f.ended.size() == 1);
}

TEST_CASE("a lane that was shut down fails what waits and what comes") {
  LaneFixture f;
  std::array<Task, 4> tasks;
  HandLink* link = f.attach();
  for (size_t i = 0; i < 3; ++i) f.push(tasks[i], Priority::kLow);
  f.lane->shutDown(errorOf(Reason::kCanceled, "closed"));
  CHECK(link->closed);
  f.push(tasks[3], Priority::kLow);
  REQUIRE(f.ended.size() == 2);
  CHECK(f.ended[0] == std::pair(&tasks[2], Reason::kCanceled));
  CHECK(f.ended[1] == std::pair(&tasks[3], Reason::kCanceled));
}

}  // namespace tent
