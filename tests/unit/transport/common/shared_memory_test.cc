#include "transport/shared_memory.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>

#include <doctest/doctest.h>

#include "support/replaced_calls.h"

namespace tent {
namespace {

Fd duplicate(const SharedMemory& memory) {
  Fd fd(fcntl(memory.fd(), F_DUPFD_CLOEXEC, 0));
  REQUIRE(fd);
  return fd;
}

int openDescriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

int mappings() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  int count = 0;
  for (char line[512]; std::fgets(line, sizeof(line), maps) != nullptr;) {
    count += std::strstr(line, "memfd:tent") != nullptr ? 1 : 0;
  }
  std::fclose(maps);
  return count;
}

TEST_CASE("memory is of the size that was asked for, zero, and writable") {
  for (const uint64_t bytes : {1u, 4095u, 4096u, 1'000'000u}) {
    const auto memory = SharedMemory::allocate(bytes, true);
    REQUIRE(memory);
    CHECK((*memory)->size() == bytes);
    CHECK((*memory)->data()[0] == std::byte{0});
    std::memset((*memory)->data(), 1, bytes);
    CHECK(fcntl((*memory)->fd(), F_GETFD) == FD_CLOEXEC);
  }
}

TEST_CASE("memory cannot be shortened or enlarged, nor its seals be changed") {
  const auto memory = SharedMemory::allocate(8192, true);
  CHECK(ftruncate((*memory)->fd(), 4096) != 0);
  CHECK(ftruncate((*memory)->fd(), 0) != 0);
  CHECK(ftruncate((*memory)->fd(), 16384) != 0);
  CHECK(fcntl((*memory)->fd(), F_ADD_SEALS, F_SEAL_WRITE) != 0);
}

TEST_CASE("what one end writes the other sees") {
  const auto memory = SharedMemory::allocate(10'000, true);
  const auto mapping = SharedMemory::map(duplicate(**memory), 10'000, true);
  REQUIRE(mapping);
  CHECK((*mapping)->fd() == -1);
  CHECK((*mapping)->data() != (*memory)->data());
  (*mapping)->data()[9'999] = std::byte{7};
  CHECK((*memory)->data()[9'999] == std::byte{7});
}

TEST_CASE("a mapping outlives the memory's owner") {
  auto memory = SharedMemory::allocate(100, true);
  (*memory)->data()[5] = std::byte{5};
  const auto mapping = SharedMemory::map(duplicate(**memory), 100, false);
  memory->reset();
  CHECK((*mapping)->data()[5] == std::byte{5});
}

TEST_CASE("the kernel lets nobody write what peers may only read, in whatever way") {
  const auto memory = SharedMemory::allocate(4096, false);
  REQUIRE(memory);
  CHECK_FALSE(SharedMemory::map(duplicate(**memory), 4096, true));
  const int fd = (*memory)->fd();
  CHECK(mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
  CHECK(pwrite(fd, "x", 1, 0) == -1);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const Fd again(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again.get(), 0) == MAP_FAILED);

  const auto mapping = SharedMemory::map(duplicate(**memory), 4096, false);
  REQUIRE(mapping);
  CHECK(mprotect((*mapping)->data(), 4096, PROT_READ | PROT_WRITE) != 0);
  // Only its owner does.
  (*memory)->data()[0] = std::byte{3};
  CHECK((*mapping)->data()[0] == std::byte{3});
}

TEST_CASE("what could make a mapping fault is refused") {
  const Fd unsealed(memfd_create("tent-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(unsealed.get(), 4096) == 0);
  const auto of = [](int fd, uint64_t bytes) {
    const auto mapping = SharedMemory::map(Fd(dup(fd)), bytes, false);
    return mapping ? std::string() : std::string(nameOf(mapping.error().reason)) + ": " + mapping.error().detail;
  };
  CHECK(of(unsealed.get(), 4096) == "io_error: shared memory of the peer is not sealed against shrinking");
  const auto memory = SharedMemory::allocate(4096, true);
  CHECK(of((*memory)->fd(), 4096).empty());
  CHECK(of((*memory)->fd(), 4097) == "io_error: shared memory of the peer has 4096 bytes where 4097 were said");
  CHECK(of((*memory)->fd(), UINT64_MAX).find("io_error") == 0);
  CHECK(of((*memory)->fd(), 0).find("io_error") == 0);
  const Fd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  CHECK(of(file.get(), 1).find("is not a memfd") != std::string::npos);
  CHECK(of(-1, 1).find("is not a memfd") != std::string::npos);
}

TEST_CASE("that a peer's memory finds no room here is not the peer's fault") {
  const auto memory = SharedMemory::allocate(4096, true);
  REQUIRE(memory);
  const ReplacedCalls replaced;
  systemCalls().mmap = [](void*, size_t, int, int, int, off_t) -> void* { return errno = ENOMEM, MAP_FAILED; };
  const auto mapped = SharedMemory::map(Fd(dup((*memory)->fd())), 4096, true);
  REQUIRE_FALSE(mapped);
  CHECK(mapped.error().reason == Reason::kResourceExhausted);
}

TEST_CASE("more memory than there is, is an error with what to do") {
  for (const uint64_t bytes : {uint64_t{0}, UINT64_MAX, uint64_t{1} << 62, uint64_t{1} << 46}) {
    const auto memory = SharedMemory::allocate(bytes, true);
    REQUIRE_FALSE(memory);
    CHECK(nameOf(memory.error().reason) == "resource_exhausted");
    CHECK(memory.error().detail.find("ask for less") != std::string::npos);
  }
}

TEST_CASE("a step that fails leaves nothing behind") {
  const ReplacedCalls replaced;
  const int descriptors = openDescriptors();
  const int maps = mappings();
  const auto failure = [] {
    const auto memory = SharedMemory::allocate(4096, false);
    return memory ? std::string() : memory.error().detail;
  };
  systemCalls().memfd_create = [](const char*, unsigned) {
    errno = EMFILE;
    return -1;
  };
  CHECK(failure() == "shared memory: memfd_create: Too many open files: raise the limit of this process (ulimit -n)");
  systemCalls() = SystemCalls();
  systemCalls().ftruncate = [](int, off_t) {
    errno = ENOMEM;
    return -1;
  };
  CHECK(failure().find("shared memory: 4096 bytes cannot be had: Cannot allocate memory; ask for less") == 0);
  systemCalls() = SystemCalls();
  systemCalls().mmap = [](void*, size_t, int, int, int, off_t) -> void* {
    errno = ENOMEM;
    return MAP_FAILED;
  };
  CHECK(failure().find("shared memory: 4096 bytes cannot be mapped: Cannot allocate memory; ask for less") == 0);
  systemCalls() = SystemCalls();
  // Cannot be sealed: made without MFD_ALLOW_SEALING.
  systemCalls().memfd_create = [](const char* name, unsigned) { return ::memfd_create(name, MFD_CLOEXEC); };
  CHECK(failure() == "shared memory: sealing: Operation not permitted");
  CHECK(openDescriptors() == descriptors);
  CHECK(mappings() == maps);
}

TEST_CASE("an interrupted call is made again") {
  const ReplacedCalls replaced;
  static int calls;
  calls = 0;
  systemCalls().ftruncate = [](int fd, off_t bytes) {
    if (++calls == 1) {
      errno = EINTR;
      return -1;
    }
    return ::ftruncate(fd, bytes);
  };
  CHECK(SharedMemory::allocate(100, true));
  CHECK(calls == 2);
}

}  // namespace
}  // namespace tent
