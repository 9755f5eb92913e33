#include "common/output.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace tent {
namespace {
constexpr size_t kLarge = 1u << 16;
}

void Output::flushIfLarge() {
  if (buffer_.size() >= kLarge) flush();
}

void Output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && !closed_ && error_.empty()) {
    const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno != EINTR) {
      error_ = "standard output cannot be written: " + std::generic_category().message(errno);
    }
  }
  buffer_.clear();
}

}  // namespace tent
