#include "base/host_memory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"

namespace tent {
namespace {

constexpr uint64_t kMiB = 1u << 20;

// A machine of 64 MiB with 16 MiB of swap, of which 48 MiB are available, and the groups of a process.
struct Machine {
  explicit Machine(const std::string& groups) {
    put("proc/meminfo", "MemTotal:      65536 kB\nMemFree:  1 kB\nMemAvailable:  49152 kB\nSwapTotal:  16384 kB\n");
    put("proc/self/cgroup", groups);
  }
  void put(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(folder.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  MemoryLimit limit() const { return memoryLimit(folder.path()).value(); }

  TemporaryFolder folder;
};

TEST_CASE("without groups the limit is the machine's memory and swap") {
  const Machine machine("");
  CHECK(machine.limit().bytes == 80 * kMiB);
  CHECK(machine.limit().available == 48 * kMiB);
  CHECK(machine.limit().source == "this machine has");
}

TEST_CASE("the least of a group's limit and those above it counts, with the swap") {
  Machine machine("0::/a/b\n");
  machine.put("sys/fs/cgroup/a/b/memory.max", "max\n");
  machine.put("sys/fs/cgroup/a/memory.max", "8388608\n");
  machine.put("sys/fs/cgroup/memory.max", "33554432\n");
  CHECK(machine.limit().bytes == 24 * kMiB);
  CHECK(machine.limit().available == 8 * kMiB);
  CHECK(machine.limit().source.find("a/memory.max") != std::string::npos);
}

TEST_CASE("version 1 of control groups tells it elsewhere, and no limit as a very high one") {
  Machine machine("9:name=systemd:/\n4:cpu,memory:/c\n0::/\n");
  machine.put("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(machine.limit().bytes == 80 * kMiB);
  machine.put("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "4194304\n");
  CHECK(machine.limit().bytes == 20 * kMiB);
}

TEST_CASE("a group whose folder is not to be seen is bounded by the root's file") {
  Machine machine("0::/kubepods/of-the-host\n");
  machine.put("sys/fs/cgroup/memory.max", "1048576\n");
  CHECK(machine.limit().bytes == 17 * kMiB);
}

TEST_CASE("what makes no sense is no limit") {
  Machine machine("0::\nnonsense\n:\n0\n");
  machine.put("sys/fs/cgroup/memory.max", "-1\n");
  CHECK(machine.limit().bytes == 80 * kMiB);
  machine.put("proc/meminfo", "MemTotal: many\n");
  CHECK_FALSE(memoryLimit(machine.folder.path()));
  CHECK_FALSE(memoryLimit("/nowhere"));
}

TEST_CASE("this machine tells") {
  const auto limit = memoryLimit();
  REQUIRE(limit);
  CHECK(limit->bytes >= kMiB);
}

}  // namespace
}  // namespace tent
