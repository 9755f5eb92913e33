// A link of a process to itself; between processes see tests/conformance.
#include "transport/shm/shm_backend.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "transport/shared_memory.h"
#include "unit/transport/recorder.h"

namespace tent {
namespace {

constexpr uint64_t kMiB = 1u << 20;

struct SelfLink {
  explicit SelfLink(const ShmOptions& options = {}) : backend(*makeShmBackend(loop, options)) {
    link = *backend->connect(*backend->answer(backend->offer()), "", told);
    REQUIRE_FALSE(link->waitReady(kWatchdogNs));
  }
  ~SelfLink() {
    link.reset();
    backend->stop();
  }
  SelfLink(const SelfLink&) = delete;
  SelfLink& operator=(const SelfLink&) = delete;

  RemoteRegion add(std::byte* base, uint64_t length, Access access, const SharedMemory* shared = nullptr) {
    const Region region{++last_id, base, length, access, shared};
    REQUIRE(backend->registerRegion(region));
    return {region.id, reinterpret_cast<uintptr_t>(base), length, access, shared != nullptr, {}};
  }
  std::string_view carryOut(Direction direction, std::byte* local, uint64_t length, const RemoteRegion& region,
                            uint64_t offset) {
    const Transfer transfer{direction, local, length, region.base + offset, &region, ++last_token};
    link->submit({&transfer, 1});
    return nameOf(told->of(last_token).reason);
  }

  Loop loop{"test-loop"};
  std::shared_ptr<Recorder> told = std::make_shared<Recorder>();
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Link> link;
  uint64_t last_id = 0;
  uint64_t last_token = 0;
};

std::vector<std::byte> counting(uint64_t bytes) {
  std::vector<std::byte> memory(bytes);
  for (uint64_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::byte>(i * 7 + i / 256);
  return memory;
}

TEST_CASE("ranges of one process may overlap, either way and however long") {
  for (const uint64_t bytes : {uint64_t{1000}, 64 * 1024 + uint64_t{1}, 9 * kMiB}) {
    for (const bool allocated : {false, true}) {
      SelfLink self;
      std::vector<std::byte> own;
      std::unique_ptr<SharedMemory> shared;
      std::byte* memory = nullptr;
      if (allocated) {
        shared = *SharedMemory::allocate(bytes, true);
        memory = shared->data();
      } else {
        own.resize(bytes);
        memory = own.data();
      }
      const RemoteRegion region = self.add(memory, bytes, Access::kReadWrite, shared.get());
      for (const uint64_t distance : {uint64_t{1}, bytes / 3}) {
        const uint64_t length = bytes - distance;
        const std::vector<std::byte> before = counting(bytes);
        std::memcpy(memory, before.data(), bytes);
        CHECK(self.carryOut(Direction::kWrite, memory, length, region, distance) == "");
        CHECK(std::memcmp(memory + distance, before.data(), length) == 0);
        CHECK(std::memcmp(memory, before.data(), distance) == 0);

        std::memcpy(memory, before.data(), bytes);
        CHECK(self.carryOut(Direction::kRead, memory, length, region, distance) == "");
        CHECK(std::memcmp(memory, before.data() + distance, length) == 0);
        CHECK(std::memcmp(memory + length, before.data() + length, distance) == 0);
      }
    }
  }
}

TEST_CASE("a process keeps to what it has registered, its own memory included") {
  SelfLink self;
  std::vector<std::byte> memory(3000);
  std::byte local{};
  const RemoteRegion region = self.add(memory.data() + 1000, 1000, Access::kRead);
  CHECK(self.carryOut(Direction::kRead, &local, 1, region, 999) == "");
  CHECK(self.carryOut(Direction::kRead, &local, 1, region, 1000) == "out_of_range");
  CHECK(self.carryOut(Direction::kRead, &local, 1, region, UINT64_MAX) == "out_of_range");
  CHECK(self.carryOut(Direction::kWrite, &local, 1, region, 0) == "permission_denied");
  self.backend->unregisterRegion(region.id);
  CHECK(self.carryOut(Direction::kRead, &local, 1, region, 0) == "out_of_range");
}

TEST_CASE("small transfers are copied within submit once their region is known, larger ones by whoever is free") {
  ShmOptions options;
  options.inline_bytes = 1000;
  SelfLink self(options);
  std::vector<std::byte> memory(10'000);
  std::vector<std::byte> local(10'000);
  const RemoteRegion region = self.add(memory.data(), memory.size(), Access::kReadWrite);
  REQUIRE(self.carryOut(Direction::kWrite, local.data(), 1, region, 0) == "");
  CHECK_FALSE(self.link->progress());

  std::vector<Transfer> transfers;
  for (uint64_t i = 0; i < 4; ++i) {
    transfers.push_back({Direction::kWrite, local.data(), 500, region.base + i * 500, &region, 100 + i});
  }
  const size_t before = self.told->count();
  self.link->submit(transfers);
  CHECK(self.told->count() >= before + 2);  // within submit
  while (self.link->progress()) {
  }
  for (uint64_t i = 0; i < 4; ++i) CHECK(nameOf(self.told->of(100 + i).reason) == "");
  CHECK(self.backend->traffic().written_bytes == 2001);
  CHECK(self.told->isConsistent());
}

TEST_CASE("the copy threads are as many as asked for, and named") {
  ShmOptions options;
  options.copy_threads = 3;
  SelfLink self(options);
  // A thread names itself when it first runs: wait for all of them with work that takes that long.
  std::vector<std::byte> memory(kMiB);
  const RemoteRegion region = self.add(memory.data(), memory.size(), Access::kReadWrite);
  const std::set<std::string> expected = {"tent-copy-0", "tent-copy-1", "tent-copy-2"};
  std::set<std::string> names;
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kWatchdogNs);
  while (names != expected && std::chrono::steady_clock::now() < until) {
    REQUIRE(self.carryOut(Direction::kWrite, memory.data(), kMiB, region, 0) == "");
    names.clear();
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
      if (name.starts_with("tent-copy-")) names.insert(name);
    }
  }
  CHECK(names == expected);
}

TEST_CASE("a link whose answer comes from nobody fails, and the backend lives on") {
  SelfLink self;
  const auto told = std::make_shared<Recorder>();
  const std::string nobody = "shm1 " + std::string(32, '0') + " " + std::string(32, '0');
  const auto link = self.backend->connect(nobody, "", told);
  REQUIRE(link);
  const Error error = (*link)->waitReady(kWatchdogNs);
  CHECK(nameOf(error.reason) == "peer_unreachable");
  CHECK(error.detail.find("another machine or in another network namespace") != std::string::npos);
  CHECK(nameOf(told->end().reason) == "peer_unreachable");
  std::byte memory{};
  std::byte local{9};
  const RemoteRegion region = self.add(&memory, 1, Access::kReadWrite);
  CHECK(self.carryOut(Direction::kWrite, &local, 1, region, 0) == "");
  CHECK(memory == std::byte{9});
}

TEST_CASE("a stopped backend answers and connects no more") {
  SelfLink self;
  const std::string answer = *self.backend->answer(self.backend->offer());
  self.backend->stop();
  CHECK(nameOf(self.told->end().reason) == "canceled");
  CHECK_FALSE(self.backend->answer(self.backend->offer()));
  CHECK_FALSE(self.backend->connect(answer, "", std::make_shared<Recorder>()));
}

}  // namespace
}  // namespace tent
