#include "transport/shared_memory.h"

#include <cerrno>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include "base/host_memory.h"
#include "base/system_calls.h"
#include "base/system_error.h"
#include "base/units.h"

namespace tent {
namespace {

// What the user can do about memory that cannot be had, as the end of a sentence.
std::string_view nextStep(int error) {
  switch (error) {
    case ENOMEM:
    case ENOSPC:
    case EFBIG:
      return "; ask for less, or raise the memory limit of the process or its container (ulimit -v, ulimit -f, "
             "memory.max, vm.overcommit_memory)";
    case ENOSYS: return "; the kernel lacks memfd_create (Linux 3.17) or a sandbox forbids it";
    case EINVAL: return "; read-only shared memory needs Linux 5.1";
    default: return "";
  }
}

std::string describe(int error) {
  const std::string_view next = nextStep(error);
  return next.empty() ? describeSystemError(error) : std::generic_category().message(error).append(next);
}

tl::unexpected<Error> exhausted(const std::string& what, int error) {
  return tl::unexpected(errorOf(Reason::kResourceExhausted, "shared memory: " + what + ": " + describe(error)));
}

tl::unexpected<Error> refused(const std::string& why) {
  return tl::unexpected(errorOf(Reason::kIoError, "shared memory of the peer " + why));
}

void* mapShared(int fd, uint64_t bytes, bool writable) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const data = systemCalls().mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  return data == MAP_FAILED ? nullptr : data;
}

bool fitsFile(uint64_t bytes) {
  return bytes >= 1 && bytes <= static_cast<uint64_t>(std::numeric_limits<off_t>::max());
}

}  // namespace

tl::expected<std::unique_ptr<SharedMemory>, Error> SharedMemory::allocate(uint64_t bytes, bool writable_by_peers) {
  const std::string amount = std::to_string(bytes) + " bytes";
  if (!fitsFile(bytes)) return exhausted(amount + " cannot be had", EFBIG);
  // The kernel gives addresses for any amount, and ends whoever fills them.
  if (const auto limit = memoryLimit(); limit && bytes > limit->bytes) {
    return tl::unexpected(errorOf(
        Reason::kResourceExhausted,
        fmt::format("shared memory: {} cannot be had: {} {} of memory and swap, and {} are available; ask for less",
                    amount, limit->source, formatSize(limit->bytes), formatSize(limit->available))));
  }
  Fd fd(systemCalls().memfd_create("tent", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return exhausted("memfd_create", errno);
  int rc = 0;
  do {
    rc = systemCalls().ftruncate(fd.get(), static_cast<off_t>(bytes));
  } while (rc != 0 && errno == EINTR);
  if (rc != 0) return exhausted(amount + " cannot be had", errno);
  void* const data = mapShared(fd.get(), bytes, true);
  if (data == nullptr) return exhausted(amount + " cannot be mapped", errno);
  std::unique_ptr<SharedMemory> memory(new SharedMemory(std::move(fd), static_cast<std::byte*>(data), bytes));
  // After our own mapping, which stays writable: this seal is only about later ones.
  const int future_write = writable_by_peers ? 0 : F_SEAL_FUTURE_WRITE;
  if (fcntl(memory->fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | future_write) != 0) {
    return exhausted("sealing", errno);
  }
  return memory;
}

tl::expected<std::unique_ptr<SharedMemory>, Error> SharedMemory::map(Fd fd, uint64_t bytes, bool writable) {
  // Without the seal the peer could shorten the file, and touching the mapping would kill this process with SIGBUS.
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0) return refused("is not a memfd: " + describeSystemError(errno));
  if ((seals & F_SEAL_SHRINK) == 0) return refused("is not sealed against shrinking");
  struct stat status {};
  if (systemCalls().fstat(fd.get(), &status) != 0) return refused("cannot be examined: " + describeSystemError(errno));
  if (!fitsFile(bytes) || static_cast<uint64_t>(status.st_size) < bytes) {
    return refused("has " + std::to_string(status.st_size) + " bytes where " + std::to_string(bytes) + " were said");
  }
  void* const data = mapShared(fd.get(), bytes, writable);
  if (data == nullptr && isExhaustion(errno)) {
    return exhausted(std::to_string(bytes) + " bytes of the peer cannot be mapped", errno);
  }
  if (data == nullptr) return refused("cannot be mapped: " + describe(errno));
  // The mapping alone keeps the memory: a thousand of them must not use up the descriptors of the process.
  return std::unique_ptr<SharedMemory>(new SharedMemory(Fd(), static_cast<std::byte*>(data), bytes));
}

SharedMemory::~SharedMemory() {
  ::munmap(data_, size_);
}

}  // namespace tent
