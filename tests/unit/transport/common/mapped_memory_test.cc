// Memory of this process that may not be mapped: seen before it is touched, and copied with care.
#include "transport/mapped_memory.h"

#include <cstring>
#include <numeric>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "support/replaced_calls.h"
#include "transport/checked_copy.h"
#include "transport/regions.h"

namespace tent {
namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

// Five pages: two of them for reading and writing, one for reading, one for nothing, one that is not mapped.
struct Pages {
  Pages()
      : begin(static_cast<std::byte*>(
            mmap(nullptr, 5 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(begin != MAP_FAILED);
    REQUIRE(mprotect(at(2), kPage, PROT_READ) == 0);
    REQUIRE(mprotect(at(3), kPage, PROT_NONE) == 0);
    REQUIRE(munmap(at(4), kPage) == 0);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(begin, 4 * kPage); }
  std::byte* at(size_t page) const { return begin + page * kPage; }

  std::byte* begin;
};

TEST_CASE("a range allows what all of its mappings do") {
  const Pages pages;
  CHECK(accessOfRange(pages.at(0), 2 * kPage) == Access::kReadWrite);
  CHECK(accessOfRange(pages.at(0) + 1, 1) == Access::kReadWrite);
  CHECK(accessOfRange(pages.at(1) + 1, kPage) == Access::kRead);
  CHECK(accessOfRange(pages.at(2), kPage) == Access::kRead);
  CHECK(accessOfRange(pages.at(2), kPage + 1) == Access::kNone);
  CHECK(accessOfRange(pages.at(3) + 5, 3) == Access::kNone);
  CHECK(accessOfRange(pages.at(4), 1) == Access::kNone);
  CHECK(accessOfRange(pages.at(3), kPage + 1) == Access::kNone);
  CHECK(accessOfRange(nullptr, 1) == Access::kNone);
  CHECK(accessOfRange(reinterpret_cast<const std::byte*>(UINTPTR_MAX - 5), 5) == Access::kNone);
  int on_the_stack = 0;
  CHECK(accessOfRange(reinterpret_cast<const std::byte*>(&on_the_stack), sizeof on_the_stack) == Access::kReadWrite);
}

TEST_CASE("where there is no list of mappings the caller's word is taken") {
  const ReplacedCalls replaced;
  const Pages pages;
  systemCalls().open = [](const char* /*path*/, int /*flags*/) { return errno = ENOENT, -1; };
  CHECK(accessOfRange(pages.at(3), 1) == Access::kReadWrite);
}

TEST_CASE("the list of mappings is understood however it comes") {
  const ReplacedCalls replaced;
  const Pages pages;
  systemCalls().read = [](int fd, void* buffer, size_t bytes) -> ssize_t {
    static int count = 0;
    if (++count % 3 == 0) return errno = EINTR, -1;
    return ::read(fd, buffer, std::min<size_t>(bytes, 7));
  };
  CHECK(accessOfRange(pages.at(0), 2 * kPage) == Access::kReadWrite);
  CHECK(accessOfRange(pages.at(2), kPage) == Access::kRead);
}

TEST_CASE("what is mapped is known, whatever it allows") {
  const Pages pages;
  CHECK(isMapped(pages.at(0), 4 * kPage));
  CHECK(isMapped(pages.at(3) + kPage - 1, 1));
  CHECK_FALSE(isMapped(pages.at(3) + kPage - 1, 2));
  CHECK_FALSE(isMapped(pages.at(4) + 100, 1));
  CHECK_FALSE(isMapped(nullptr, 1));
}

TEST_CASE("a copy with care ends where memory cannot be used so, on either side") {
  const Pages pages;
  std::vector<std::byte> known(5 * kPage, std::byte{7});
  CHECK(copyToUnknown(pages.at(0), known.data(), 5 * kPage) == 2 * kPage);
  CHECK(copyFromUnknown(known.data(), pages.at(0), 5 * kPage) == 3 * kPage);
  CHECK(pages.at(1)[kPage - 1] == std::byte{7});
  CHECK(copyToUnknown(known.data(), pages.at(3), 10) == 0);
  CHECK(copyFromUnknown(pages.at(2), known.data(), 10) == 0);
  CHECK(uncopied(12, EFAULT).detail.find("12 bytes into") == 0);
  CHECK(uncopied(0, EPERM).detail.find("register the memory") != std::string::npos);
}

TEST_CASE("a move with care is right for ranges that overlap, either way") {
  for (const size_t bytes : {size_t{10}, size_t{16384}, size_t{16385}, size_t{100'000}}) {
    for (const size_t distance : {size_t{0}, size_t{1}, bytes / 2, bytes}) {
      CAPTURE(bytes);
      CAPTURE(distance);
      std::vector<unsigned char> expected(bytes + distance);
      std::iota(expected.begin(), expected.end(), static_cast<unsigned char>(0));
      for (const bool forwards : {false, true}) {
        std::vector<unsigned char> memory(expected);
        std::vector<unsigned char> moved(expected);
        const size_t from = forwards ? distance : 0;
        std::memmove(moved.data() + (distance - from), moved.data() + from, bytes);
        auto* const base = reinterpret_cast<std::byte*>(memory.data());
        CHECK(moveUnknown(base + (distance - from), base + from, bytes) == bytes);
        CHECK(memory == moved);
      }
    }
  }
  const Pages pages;
  CHECK(moveUnknown(pages.at(1), pages.at(2), 2 * kPage) == kPage);
}

TEST_CASE("peers are refused application memory that is not mapped, or not for this, for as long as it is so") {
  const Pages pages;
  RegionTable table;
  table.add({1, pages.at(0), 2 * kPage, Access::kReadWrite, nullptr, Access::kReadWrite});
  table.add({2, pages.at(2), kPage, Access::kReadWrite, nullptr, Access::kRead});
  table.add({3, pages.at(3), 2 * kPage, Access::kReadWrite, nullptr, Access::kNone});
  const auto reason_of = [&](size_t page, size_t length, Access access) {
    const auto use = table.use(reinterpret_cast<uintptr_t>(pages.at(page)), length, access);
    return use ? "" : nameOf(use.error().reason);
  };
  CHECK(reason_of(0, 2 * kPage, Access::kReadWrite) == "");
  CHECK(reason_of(2, kPage, Access::kRead) == "");
  CHECK(reason_of(2, kPage, Access::kReadWrite) == "permission_denied");
  CHECK(reason_of(3, kPage, Access::kRead) == "permission_denied");
  CHECK(reason_of(3, kPage + 1, Access::kRead) == "out_of_range");
  REQUIRE(mprotect(pages.at(3), kPage, PROT_READ | PROT_WRITE) == 0);
  CHECK(reason_of(3, kPage, Access::kReadWrite) == "");
  CHECK(table.remove(3, 0));  // nothing refused is still in use
}

}  // namespace
}  // namespace tent
