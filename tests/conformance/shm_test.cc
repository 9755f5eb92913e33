// What holds of shm alone: the two ways to copy are chosen by the memory, and the kernel may forbid one of them.
#include <cerrno>
#include <string>

#include "conformance/fixture.h"
#include "support/replaced_calls.h"

namespace tent::conformance {
namespace {

constexpr uint64_t kShmBytes = 100'000;

ssize_t forbidden(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long) {
  errno = EPERM;
  return -1;
}

TEST_CASE("shm_mapped: mapped memory is reached where the kernel forbids to copy across processes" *
          doctest::test_suite("shm_mapped")) {
  const ReplacedCalls replaced;
  systemCalls().process_vm_readv = systemCalls().process_vm_writev = forbidden;
  Fixture fixture(kShmMapped);
  const RemoteRegion allocated = fixture.target.memory(kShmBytes, Access::kReadWrite);
  const Bytes local(kShmBytes, 1);
  OpenLink link = fixture.open();
  CHECK_FALSE(link.link->reaches(allocated));
  fixture.carryOut(link, {transferOf(Direction::kWrite, local.data(), kShmBytes, allocated, 0)});
  CHECK(fixture.target.checksum(allocated.base, kShmBytes) == local.checksum());
}

TEST_CASE("shm_copied: where the kernel forbids to copy, that is said beforehand and with what to do" *
          doctest::test_suite("shm_copied")) {
  const ReplacedCalls replaced;
  systemCalls().process_vm_readv = systemCalls().process_vm_writev = forbidden;
  Fixture fixture(kShmCopied);
  const RemoteRegion registered = fixture.target.memory(kShmBytes, Access::kReadWrite);
  const Bytes local(kShmBytes, 1);
  OpenLink link = fixture.open();
  const Error why = link.link->reaches(registered);
  CHECK(nameOf(why.reason) == "permission_denied");
  CHECK(why.detail.find("ptrace_scope") != std::string::npos);
  CHECK(why.detail.find("CAP_SYS_PTRACE") != std::string::npos);
  fixture.checkRefused(link, transferOf(Direction::kWrite, local.data(), kShmBytes, registered, 0),
                       Reason::kPermissionDenied);
}

void localOnly(const Kind& kind) {
  Fixture fixture(kind);
  const RemoteRegion hidden = fixture.target.memory(kShmBytes, Access::kNone);
  const OpenLink link = fixture.open();
  CHECK(nameOf(link.link->reaches(hidden).reason) == "permission_denied");
}
CONTRACT_OF_SHM("memory that the target keeps to itself is not reached", localOnly)

}  // namespace
}  // namespace tent::conformance
