// Memory that ends where the next page cannot be touched: what goes a byte too far is found.
#pragma once

#include <cstddef>

#include <sys/mman.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace tent::abi_test {

class GuardedPage {
 public:
  GuardedPage() : bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* const pages = mmap(nullptr, 2 * bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    REQUIRE(mprotect(static_cast<char*>(pages) + bytes_, bytes_, PROT_NONE) == 0);
    begin_ = static_cast<char*>(pages);
  }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  ~GuardedPage() { munmap(begin_, 2 * bytes_); }
  char* end() const { return begin_ + bytes_; }

 private:
  size_t bytes_;
  char* begin_ = nullptr;
};

}  // namespace tent::abi_test
