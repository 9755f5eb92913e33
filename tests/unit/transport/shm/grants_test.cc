#include "transport/shm/grants.h"

#include <cerrno>

#include <fcntl.h>

#include <doctest/doctest.h>

namespace tent::shm {
namespace {

std::string_view reasonOf(const Grant& grant, Direction direction, uint64_t address, uint64_t length) {
  return nameOf(grant.check({direction, nullptr, length, address, nullptr, 0}).reason);
}

TEST_CASE("bounds are those of the grant, whatever the range") {
  Grant grant;
  grant.terms.base = 1000;
  grant.terms.length = 100;
  grant.terms.access = Access::kReadWrite;
  for (const Direction direction : {Direction::kRead, Direction::kWrite}) {
    CHECK(reasonOf(grant, direction, 1000, 100) == "");
    CHECK(reasonOf(grant, direction, 1099, 1) == "");
    CHECK(reasonOf(grant, direction, 1000, 101) == "out_of_range");
    CHECK(reasonOf(grant, direction, 1100, 1) == "out_of_range");
    CHECK(reasonOf(grant, direction, 999, 1) == "out_of_range");
    CHECK(reasonOf(grant, direction, 999, 2) == "out_of_range");
    CHECK(reasonOf(grant, direction, 1001, UINT64_MAX) == "out_of_range");
    CHECK(reasonOf(grant, direction, UINT64_MAX, 1002) == "out_of_range");
  }
}

TEST_CASE("access is that of the grant") {
  Grant grant;
  grant.terms.base = 1000;
  grant.terms.length = 100;
  CHECK(reasonOf(grant, Direction::kRead, 1000, 1) == "permission_denied");
  grant.terms.access = Access::kRead;
  CHECK(reasonOf(grant, Direction::kRead, 1000, 1) == "");
  CHECK(reasonOf(grant, Direction::kWrite, 1000, 1) == "permission_denied");
}

Frame regionFrame(uint64_t base, uint64_t length, uint32_t access) {
  Frame frame;
  frame.type = FrameType::kRegion;
  frame.base = base;
  frame.length = length;
  frame.value = access;
  return frame;
}

TEST_CASE("what the target sends becomes terms, and a mapping where it passes memory") {
  const auto own = termsOf(regionFrame(1000, 50, 1), Fd(), false);
  REQUIRE(own);
  CHECK(own->base == 1000);
  CHECK(own->length == 50);
  CHECK(own->access == Access::kRead);
  CHECK(own->mapping == nullptr);

  const auto memory = SharedMemory::allocate(50, true);
  const auto mapped = termsOf(regionFrame(1000, 50, 2), Fd(dup((*memory)->fd())), false);
  REQUIRE(mapped);
  mapped->mapping->data()[49] = std::byte{1};
  CHECK((*memory)->data()[49] == std::byte{1});
}

TEST_CASE("terms that make no sense, or cannot be had, are errors") {
  const auto reason_of = [](const Frame& frame, Fd passed, bool lost) {
    const auto terms = termsOf(frame, std::move(passed), lost);
    return terms ? "" : nameOf(terms.error().reason);
  };
  CHECK(reason_of(regionFrame(1000, 0, 1), Fd(), false) == "io_error");
  CHECK(reason_of(regionFrame(1000, UINT64_MAX, 1), Fd(), false) == "io_error");
  CHECK(reason_of(regionFrame(1000, 1, 3), Fd(), false) == "io_error");
  CHECK(reason_of(regionFrame(1000, 1, 1), Fd(), true) == "resource_exhausted");
  const auto read_only = SharedMemory::allocate(50, false);
  CHECK(reason_of(regionFrame(1000, 51, 1), Fd(dup((*read_only)->fd())), false) == "io_error");
  CHECK(reason_of(regionFrame(1000, 50, 2), Fd(dup((*read_only)->fd())), false) == "io_error");
  Frame none;
  none.type = FrameType::kNoRegion;
  none.value = static_cast<uint32_t>(Reason::kPermissionDenied);
  CHECK(reason_of(none, Fd(), false) == "permission_denied");
  none.value = 12345;
  CHECK(reason_of(none, Fd(), false) == "out_of_range");
}

TEST_CASE("of many grants those unused for longest go, and none that is needed") {
  Grants grants;
  const std::shared_ptr<Grant> in_use = grants.add(0);
  in_use->given = true;
  grants.add(1)->given = false;  // asked for
  for (uint64_t id = 2; id < 1024; ++id) grants.add(id)->given = true;
  CHECK(grants.size() == 1024);
  CHECK(grants.find(2) != nullptr);  // used just now
  grants.add(5000)->given = true;
  grants.add(5001)->given = true;
  CHECK(grants.size() == 1024);
  CHECK(grants.find(0) != nullptr);
  CHECK(grants.find(1) != nullptr);
  CHECK(grants.find(2) != nullptr);
  CHECK(grants.find(3) == nullptr);
  CHECK(grants.find(4) == nullptr);
  CHECK(grants.find(5) != nullptr);
  CHECK(grants.find(5000) != nullptr);
}

}  // namespace
}  // namespace tent::shm
