#include "common/interrupt.h"

#include <csignal>
#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

namespace tent {
namespace {

volatile std::sig_atomic_t stop_wanted = 0;
int stop_fd = -1;

extern "C" void onInterrupt(int) {
  stop_wanted = 1;
  const uint64_t one = 1;
  // An eventfd write of 1 cannot block here, and there is nobody to tell if it failed.
  [[maybe_unused]] const auto written = write(stop_fd, &one, sizeof one);
}

}  // namespace

void catchInterrupts() {
  stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = onInterrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() {
  return stop_wanted != 0;
}

int interruptFd() {
  return stop_fd;
}

}  // namespace tent
