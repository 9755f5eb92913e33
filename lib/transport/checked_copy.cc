#include "transport/checked_copy.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system_calls.h"

namespace tent {
namespace {

// `call` copies between `known`, its local side, and `unknown`, its remote side, which it checks.
template <typename Call>
uint64_t copyAll(Call call, std::byte* known, std::byte* unknown, uint64_t length) {
  uint64_t done = 0;
  while (done < length) {
    const iovec local{known + done, length - done};
    const iovec remote{unknown + done, length - done};
    const ssize_t count = call(getpid(), &local, 1, &remote, 1, 0);
    if (count > 0) {
      done += static_cast<uint64_t>(count);
    } else if (count == 0 || errno != EINTR) {
      break;
    }
  }
  return done;
}

}  // namespace

uint64_t copyToUnknown(std::byte* unknown, const std::byte* known, uint64_t length) {
  // The interface of the call has no const; it reads from this side.
  return copyAll(systemCalls().process_vm_writev, const_cast<std::byte*>(known), unknown,
                 length);  // NOLINT(*-const-cast)
}

uint64_t copyFromUnknown(std::byte* known, const std::byte* unknown, uint64_t length) {
  return copyAll(systemCalls().process_vm_readv, known, const_cast<std::byte*>(unknown),
                 length);  // NOLINT(*-const-cast)
}

uint64_t moveUnknown(std::byte* to, const std::byte* from, uint64_t length) {
  std::array<std::byte, 16384> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled as far as it is used
  // From the end that is not overwritten before it was read.
  const bool forwards = to <= from;
  uint64_t moved = 0;
  while (moved < length) {
    const uint64_t wanted = std::min<uint64_t>(piece.size(), length - moved);
    const uint64_t at = forwards ? moved : length - moved - wanted;
    const uint64_t read = copyFromUnknown(piece.data(), from + at, wanted);
    const uint64_t written = copyToUnknown(to + at, piece.data(), read);
    moved += written;
    if (written < wanted) break;
  }
  return moved;
}

Error uncopied(uint64_t moved, int error) {
  if (error == EPERM || error == ENOSYS) {
    return errorOf(
        Reason::kIoError,
        "the kernel does not let this process copy memory that is not registered (process_vm_readv: a sandbox "
        "forbids it): register the memory");
  }
  return errorOf(Reason::kIoError,
                 fmt::format("{} bytes into the range, memory of this process is not mapped, or not for this", moved));
}

}  // namespace tent
