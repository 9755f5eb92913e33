// Admission without an engine: who is admitted when, with hosts that only take note.
#include "engine/admission.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "engine/batch.h"

namespace tent {
namespace {

constexpr uint64_t kLate = AdmissionQueue::kAgedAfterNs;

class Order {
 public:
  Task& add(Priority priority, uint64_t deadline_ns = 0, uint64_t since_ns = 0) {
    Task& task = tasks_.emplace_back();
    task.turn.priority = priority;
    task.turn.deadline_ns = deadline_ns;
    task.turn.since_ns = since_ns;
    task.turn.arrival = tasks_.size();
    queue.add(task);
    return task;
  }
  Task* next(uint64_t now_ns = 0) {
    Task* task = queue.next(now_ns);
    if (task != nullptr) queue.take(*task, now_ns);
    return task;
  }

  AdmissionQueue queue{std::pmr::get_default_resource()};

 private:
  std::deque<Task> tasks_;
};

struct Noting final : AdmissionHost {
  void admitted(std::span<Task* const> tasks) noexcept override {
    for (Task* task : tasks) {
      got.push_back(task);
      if (ends_at_once) {
        admission->leave(*task);
        admission->handOver();
      }
    }
  }
  std::vector<Task*> got;
  bool ends_at_once = false;
  TenantAdmission* admission = nullptr;
};

// Tasks of one submit, each with these limits.
std::vector<Task> tasksOf(size_t count, uint64_t bytes, InflightLimits limits) {
  std::vector<Task> tasks(count);
  for (Task& task : tasks) {
    task.turn.limited = true;
    task.turn.bytes = bytes;
    task.turn.limits = limits;
  }
  return tasks;
}

size_t atOnce(const std::vector<Task>& tasks) {
  return static_cast<size_t>(std::ranges::count_if(tasks, [](const Task& task) { return task.turn.at_once; }));
}

struct Admitting {
  std::optional<TenantAdmission::Refusal> enter(std::span<Task> tasks, AdmissionHost& whose) {
    std::optional<TenantAdmission::Refusal> refusal;
    {
      TenantAdmission::Entry entry(admission);
      refusal = entry.take(tasks, whose);
    }
    admission.handOver();
    return refusal;
  }
  void end(Task& task) {
    admission.leave(task);
    admission.handOver();
  }
  TenantAdmission admission;
  Noting host;
};

}  // namespace

TEST_CASE("the turn goes by priority, then the earliest deadline, none being last, then arrival") {
  Order order;
  Task& low = order.add(Priority::kLow, 1);
  Task& medium = order.add(Priority::kMedium);
  Task& high_open = order.add(Priority::kHigh);
  Task& high_late = order.add(Priority::kHigh, 20);
  Task& high_soon = order.add(Priority::kHigh, 10);
  Task& high_open_too = order.add(Priority::kHigh);
  for (Task* expected : {&high_soon, &high_late, &high_open, &high_open_too, &medium, &low}) {
    CHECK(order.next() == expected);
  }
  CHECK(order.next() == nullptr);
}

TEST_CASE("a request that waited is not starved by a stream of more urgent ones, nor do they lose their rank") {
  Order order;
  Task& low = order.add(Priority::kLow);
  size_t before = 0;
  for (; before < 100; ++before) {
    order.add(Priority::kHigh, 5, kLate);
    if (order.next(kLate) == &low) break;
  }
  CHECK(before == AdmissionQueue::kAgedShare - 1);

  Order overload;  // where everything has waited long
  std::vector<Task*> lows;
  for (int i = 0; i < 100; ++i) lows.push_back(&overload.add(Priority::kLow));
  for (int i = 0; i < 100; ++i) overload.add(Priority::kHigh);
  size_t low_turns = 0;
  for (int i = 0; i < 100; ++i) low_turns += overload.next(2 * kLate)->turn.priority == Priority::kLow ? 1U : 0U;
  CHECK(low_turns == 100 / AdmissionQueue::kAgedShare);
}

TEST_CASE("what has not waited long is in nobody's way") {
  Order order;
  Task& low = order.add(Priority::kLow, 0, 1);
  for (int i = 0; i < 20; ++i) {
    Task& high = order.add(Priority::kHigh, 0, 1);
    CHECK(order.next(kLate) == &high);
  }
  CHECK(order.next(kLate) == &low);
}

TEST_CASE("so many requests run at once as the contract says, and the next when one has ended") {
  Admitting a;
  std::vector<Task> tasks = tasksOf(5, 100, {UINT64_MAX, 2});
  REQUIRE_FALSE(a.enter(tasks, a.host));
  CHECK(atOnce(tasks) == 2);
  CHECK(a.admission.waiting() == 3);
  a.end(tasks[1]);
  CHECK(a.host.got == std::vector<Task*>{&tasks[2]});
  a.end(tasks[0]);
  a.end(tasks[2]);
  CHECK(a.host.got == std::vector<Task*>{&tasks[2], &tasks[3], &tasks[4]});
  CHECK(a.admission.waiting() == 0);
}

TEST_CASE("so many bytes run at once; what is larger than the limit runs alone") {
  Admitting a;
  std::vector<Task> small = tasksOf(3, 40, {100, UINT64_MAX});
  std::vector<Task> large = tasksOf(1, 1000, {100, UINT64_MAX});
  REQUIRE_FALSE(a.enter(small, a.host));
  CHECK(atOnce(small) == 2);
  REQUIRE_FALSE(a.enter(large, a.host));
  a.end(small[0]);
  CHECK(a.host.got == std::vector<Task*>{&small[2]});
  a.end(small[1]);
  CHECK(a.host.got.size() == 1);
  a.end(small[2]);
  CHECK(a.host.got == std::vector<Task*>{&small[2], &large[0]});
  std::vector<Task> more = tasksOf(1, 1, {100, UINT64_MAX});
  REQUIRE_FALSE(a.enter(more, a.host));
  CHECK(atOnce(more) == 0);
  a.end(large[0]);
  CHECK(a.host.got.back() == more.data());
}

TEST_CASE("a large one whose turn it is, is not overtaken by small ones that would fit") {
  Admitting a;
  std::vector<Task> first = tasksOf(1, 60, {100, UINT64_MAX});
  std::vector<Task> large = tasksOf(1, 90, {100, UINT64_MAX});
  std::vector<Task> small = tasksOf(1, 10, {100, UINT64_MAX});
  REQUIRE_FALSE(a.enter(first, a.host));
  REQUIRE_FALSE(a.enter(large, a.host));
  REQUIRE_FALSE(a.enter(small, a.host));
  CHECK(a.admission.waiting() == 2);
  a.end(first[0]);
  CHECK(a.host.got == std::vector<Task*>{&large[0], &small[0]});
}

TEST_CASE("a limit of nothing lets one run at a time") {
  Admitting a;
  for (const InflightLimits limits : {InflightLimits{0, UINT64_MAX}, InflightLimits{UINT64_MAX, 0}}) {
    std::vector<Task> tasks = tasksOf(2, 10, limits);
    REQUIRE_FALSE(a.enter(tasks, a.host));
    CHECK(atOnce(tasks) == 1);
    a.end(tasks[0]);
    CHECK(a.host.got.back() == &tasks[1]);
    a.end(tasks[1]);
  }
}

TEST_CASE("intents have room of their own, and all engines of the tenant share it") {
  Admitting a;
  Noting other;
  std::vector<Task> bulk = tasksOf(2, 10, {UINT64_MAX, 1});
  std::vector<Task> foreground = tasksOf(1, 10, {UINT64_MAX, 1});
  std::vector<Task> others = tasksOf(1, 10, {UINT64_MAX, 1});
  for (Task& task : foreground) task.turn.intent = IntentType::kForegroundGet;
  REQUIRE_FALSE(a.enter(bulk, a.host));
  REQUIRE_FALSE(a.enter(foreground, a.host));
  CHECK(atOnce(foreground) == 1);
  REQUIRE_FALSE(a.enter(others, other));
  CHECK(atOnce(others) == 0);
  a.end(bulk[0]);
  a.end(bulk[1]);
  CHECK(a.host.got == std::vector<Task*>{&bulk[1]});
  CHECK(other.got == std::vector<Task*>{&others[0]});
  CHECK(TenantAdmission::of(PolicyName("a")) == TenantAdmission::of(PolicyName("a")));
  CHECK(TenantAdmission::of(PolicyName("a")) != TenantAdmission::of(PolicyName("b")));
}

TEST_CASE("a submit that does not fit into the queue leaves nothing behind, and is told from where on") {
  Admitting a;
  std::vector<Task> full = tasksOf(TenantAdmission::kWaitingMax, 1, {UINT64_MAX, 1});
  REQUIRE_FALSE(a.enter(full, a.host));  // one runs
  std::vector<Task> more = tasksOf(4, 1, {UINT64_MAX, 1});
  more[2].turn.limited = false;
  for (const auto first_is_urgent : {false, true}) {
    more[0].turn.priority = first_is_urgent ? Priority::kHigh : Priority::kLow;
    const auto refusal = a.enter(more, a.host);
    REQUIRE(refusal);
    CHECK(refusal->first == 1);
    CHECK(refusal->count == 2);
    CHECK(a.admission.waiting() == TenantAdmission::kWaitingMax - 1);
  }
  std::vector<Task> one = tasksOf(1, 1, {UINT64_MAX, 1});
  CHECK_FALSE(a.enter(one, a.host));
  CHECK(a.host.got.empty());
  CHECK(a.admission.takeAll(a.host).size() == TenantAdmission::kWaitingMax);
}

TEST_CASE("what is taken out before its turn never runs; what runs cannot be taken out") {
  Admitting a;
  std::vector<Task> tasks = tasksOf(3, 1, {UINT64_MAX, 1});
  REQUIRE_FALSE(a.enter(tasks, a.host));
  CHECK_FALSE(a.admission.takeOut(tasks[0]));
  CHECK(a.admission.takeOut(tasks[1]));
  CHECK_FALSE(a.admission.takeOut(tasks[1]));
  a.end(tasks[0]);
  CHECK(a.host.got == std::vector<Task*>{&tasks[2]});
}

TEST_CASE("taking out the one that blocks lets the next one run") {
  Admitting a;
  std::vector<Task> tasks = tasksOf(3, 60, {100, UINT64_MAX});
  tasks[2].turn.bytes = 40;
  REQUIRE_FALSE(a.enter(tasks, a.host));
  CHECK(atOnce(tasks) == 1);
  CHECK(a.admission.takeOut(tasks[1]));
  a.admission.handOver();
  CHECK(a.host.got == std::vector<Task*>{&tasks[2]});
}

TEST_CASE("thousands that end as soon as they are handed over need no deep stack") {
  Admitting a;
  a.host.ends_at_once = true;
  a.host.admission = &a.admission;
  std::vector<Task> tasks = tasksOf(TenantAdmission::kWaitingMax, 1, {UINT64_MAX, 1});
  REQUIRE_FALSE(a.enter(tasks, a.host));
  a.end(tasks[0]);
  CHECK(a.host.got.size() == tasks.size() - 1);
  CHECK(std::ranges::is_sorted(a.host.got));
}

TEST_CASE("many threads never have more in flight than the limit, and all get their turn") {
  struct Counting final : AdmissionHost {
    void admitted(std::span<Task* const> tasks) noexcept override {
      for (Task* task : tasks) run(*task);
    }
    void run(Task& task) {
      most = std::max(most.load(), ++now);
      std::this_thread::yield();
      --now;
      ++ran;
      admission->leave(task);
    }
    TenantAdmission* admission = nullptr;
    std::atomic<int> now{0};
    std::atomic<int> most{0};
    std::atomic<int> ran{0};
  };
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  TenantAdmission admission;
  Counting host;
  host.admission = &admission;
  std::vector<std::vector<Task>> tasks;
  for (int i = 0; i < kThreads * kRounds; ++i) tasks.push_back(tasksOf(3, 1, {UINT64_MAX, 2}));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        auto& mine = tasks[static_cast<size_t>(t * kRounds + i)];
        {
          TenantAdmission::Entry entry(admission);
          if (entry.take(mine, host)) return;
        }
        for (Task& task : mine) {
          if (task.turn.at_once) host.run(task);
        }
        admission.handOver();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  admission.handOver();
  CHECK(host.ran == kThreads * kRounds * 3);
  CHECK(host.most <= 2);
  CHECK(admission.waiting() == 0);
}

}  // namespace tent
