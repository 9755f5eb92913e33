#include "common/output.h"

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "common/exit_code.h"

namespace tent::tool {
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

int finish(Output& output, const char* tool, int exit_code) {
  output.flush();
  if (output.error().empty()) return exit_code;
  std::fprintf(stderr, "%s: %s\n", tool, output.error().c_str());
  return kExitEnvironment;
}

}  // namespace tent::tool
