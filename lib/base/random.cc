#include "base/random.h"

#include <cerrno>
#include <cstdlib>

#include <sys/random.h>
#include <sys/types.h>

namespace tent {

void fillRandom(std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = getrandom(into.data(), into.size(), 0);
    if (got > 0) {
      into = into.subspan(static_cast<size_t>(got));
    } else if (errno != EINTR) {
      std::abort();
    }
  }
}

}  // namespace tent
