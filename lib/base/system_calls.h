// The seam through which this project makes the system calls that fail in interesting ways, so that tests can inject
// interruptions, short reads and errors that no test could cause.
//
// Thread safety: replaced only by tests, and then before other threads use it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace tent {

// Each member has the contract of the call it is named after, errno included.
struct SystemCalls {
  int (*open)(const char* path, int flags) = [](const char* path, int flags) { return ::open(path, flags); };
  int (*fstat)(int fd, struct stat* result) = [](int fd, struct stat* result) { return ::fstat(fd, result); };
  ssize_t (*read)(int fd, void* buffer, size_t bytes) = ::read;
};

inline SystemCalls& systemCalls() {
  static SystemCalls calls;
  return calls;
}

}  // namespace tent
