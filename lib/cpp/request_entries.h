// Requests as entries of the C API.
//
// Thread safety: a list belongs to one call; its memory is its thread's, so that a submit allocates nothing once the
// thread has submitted as much before.
#pragma once

#include <cstddef>
#include <vector>

#include "tent/types.h"

namespace tent {
inline namespace v1 {

class RequestEntries {
 public:
  // The entries refer to the policy names of `requests`, which must outlive the list.
  RequestEntries(const Request* requests, size_t count);
  ~RequestEntries();
  RequestEntries(const RequestEntries&) = delete;
  RequestEntries& operator=(const RequestEntries&) = delete;

  const tent_request_v1_t* data() const;
  size_t size() const;

 private:
  struct Storage;
  Storage& storage_;
};

}  // namespace v1
}  // namespace tent
