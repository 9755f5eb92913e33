#include "engine/batch.h"

#include <thread>

#include <doctest/doctest.h>
#include <poll.h>

namespace tent {
namespace {

constexpr uint64_t kWatchdogNs = 60'000'000'000;

void begin(const std::shared_ptr<Batch>& batch, size_t count) {
  for (Task& task : batch->slots(count)) {
    task.batch = batch;
    task.state.store(TaskState::kPending);
  }
  batch->commit(count);
}

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

bool nothingToHelp() {
  return false;
}

}  // namespace

TEST_CASE("an empty batch is idle") {
  const auto batch = std::make_shared<Batch>(4);
  CHECK(batch->idle());
  CHECK(batch->wait(0, nothingToHelp));
  CHECK(readable(batch->waitableFd()));
  CHECK(batch->task(0) == nullptr);
}

TEST_CASE("the descriptor is readable exactly while no task is in flight") {
  const auto batch = std::make_shared<Batch>(4);
  const int fd = batch->waitableFd();
  begin(batch, 2);
  CHECK_FALSE(readable(fd));
  Batch::end(*batch->task(0), TaskState::kCompleted, 1);
  CHECK_FALSE(readable(fd));
  Batch::end(*batch->task(1), TaskState::kFailed, 1);
  CHECK(readable(fd));
  begin(batch, 1);
  CHECK_FALSE(readable(fd));
  Batch::end(*batch->task(2), TaskState::kCompleted, 1);
  CHECK(readable(fd));
  CHECK(batch->room() == 1);
}

TEST_CASE("a wait ends with the last task, or with its time") {
  const auto batch = std::make_shared<Batch>(2);
  begin(batch, 2);
  CHECK_FALSE(batch->wait(1'000'000, nothingToHelp));
  std::thread ender([&] {
    Batch::end(*batch->task(1), TaskState::kCompleted, 1);
    Batch::end(*batch->task(0), TaskState::kCompleted, 1);
  });
  CHECK(batch->wait(kWatchdogNs, nothingToHelp));
  ender.join();
  CHECK(batch->wait(std::nullopt, nothingToHelp));
}

TEST_CASE("a waiting thread helps for as long as there is something to do") {
  const auto batch = std::make_shared<Batch>(3);
  begin(batch, 3);
  size_t next = 0;
  const auto help = [&] {
    Batch::end(*batch->task(next++), TaskState::kCompleted, 1);
    return true;
  };
  CHECK(batch->wait(kWatchdogNs, help));
  CHECK(next == 3);
}

TEST_CASE("a task that ends keeps its batch alive until it has been told") {
  auto batch = std::make_shared<Batch>(1);
  const std::weak_ptr<Batch> watch = batch;
  begin(batch, 1);
  Task* task = batch->task(0);
  batch.reset();
  CHECK_FALSE(watch.expired());
  Batch::end(*task, TaskState::kCompleted, 1);
  CHECK(watch.expired());
}

}  // namespace tent
