#include "transport/checked_copy.h"

#include <cerrno>

#include <sys/uio.h>
#include <unistd.h>

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
  return copyAll(process_vm_writev, const_cast<std::byte*>(known), unknown, length);  // NOLINT(*-const-cast)
}

uint64_t copyFromUnknown(std::byte* known, const std::byte* unknown, uint64_t length) {
  return copyAll(process_vm_readv, known, const_cast<std::byte*>(unknown), length);  // NOLINT(*-const-cast)
}

}  // namespace tent
