#include "common/interrupt.h"

#include <csignal>
#include <cstdint>
#include <initializer_list>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/exit_code.h"

namespace tent::tool {
namespace {

volatile std::sig_atomic_t stop_wanted = 0;
int stop_fd = -1;
int hangup_fd = -1;

void announce(int fd) {
  const uint64_t one = 1;
  // An eventfd write of 1 cannot block here, and there is nobody to tell if it failed.
  [[maybe_unused]] const auto written = write(fd, &one, sizeof one);
}

extern "C" void onInterrupt(int) {
  if (stop_wanted != 0) _exit(kExitInterrupted);
  stop_wanted = 1;
  announce(stop_fd);
}

extern "C" void onHangup(int) {
  announce(hangup_fd);
}

}  // namespace

void catchInterrupts() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Opened the wrong way round: to read what is for writing only, and the reverse, fails as it does on a closed one.
    if (fcntl(fd, F_GETFD) == -1) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
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

void catchHangups() {
  hangup_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = onHangup;
  sigaction(SIGHUP, &action, nullptr);
}

int hangupFd() {
  return hangup_fd;
}

bool takeHangup() {
  eventfd_t times = 0;
  return eventfd_read(hangup_fd, &times) == 0;
}

}  // namespace tent::tool
