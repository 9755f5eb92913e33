// The seam through which this project makes the system calls that fail in interesting ways, so that tests can inject
// interruptions, short reads and errors that no test could cause.
//
// Thread safety: replaced only by tests, and then before other threads use it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace tent {

// Each member has the contract of the call it is named after, errno included.
struct SystemCalls {
  int (*open)(const char* path, int flags) = [](const char* path, int flags) { return ::open(path, flags); };
  int (*fstat)(int fd, struct stat* result) = [](int fd, struct stat* result) { return ::fstat(fd, result); };
  ssize_t (*read)(int fd, void* buffer, size_t bytes) = ::read;

  ssize_t (*recvmsg)(int fd, msghdr* message, int flags) = ::recvmsg;
  ssize_t (*sendmsg)(int fd, const msghdr* message, int flags) = ::sendmsg;

  int (*memfd_create)(const char* name, unsigned flags) = ::memfd_create;
  int (*ftruncate)(int fd, off_t bytes) = ::ftruncate;
  void* (*mmap)(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) = ::mmap;

  // Copies between this process and another (process_vm_readv, process_vm_writev); the same shape both ways.
  ssize_t (*process_vm_readv)(pid_t pid, const iovec* local, unsigned long local_count, const iovec* remote,
                              unsigned long remote_count, unsigned long flags) = ::process_vm_readv;
  ssize_t (*process_vm_writev)(pid_t pid, const iovec* local, unsigned long local_count, const iovec* remote,
                               unsigned long remote_count, unsigned long flags) = ::process_vm_writev;
};

inline SystemCalls& systemCalls() {
  static SystemCalls calls;
  return calls;
}

}  // namespace tent
