// Requests as entries of the C API.
//
// Thread safety: a list belongs to one call; its memory is its thread's, so that a submit allocates nothing once the
// thread has submitted as much before.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tent/status.h"
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

  // C would end a policy name at its NUL; a name that holds one is passed with another character that no name has. Puts
  // the NUL back into what the library says of the entries: a message, or JSON.
  void restoreNuls(std::string& text) const;

  const tent_request_v1_t* data() const;
  size_t size() const;

 private:
  struct Storage;
  Storage& storage_;
};

// Of a call about the entries.
Status statusOf(int code, const RequestEntries& entries);

}  // namespace v1
}  // namespace tent
