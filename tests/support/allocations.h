// Heap allocations, counted by replacing the global operator new of the test program that links tent_test_allocations.
#pragma once

#include <cstddef>

namespace tent {

// Those of the calling thread so far.
size_t allocations();

template <typename Work>
size_t allocationsOf(Work work) {
  const size_t before = allocations();
  work();
  return allocations() - before;
}

}  // namespace tent
