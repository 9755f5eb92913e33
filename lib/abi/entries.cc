#include "abi/entries.h"

#include <cstring>
#include <deque>
#include <vector>

#include "intent/entry.h"

namespace tent::abi {
namespace {

// What a thread keeps for its next call: 1 MiB or so.
constexpr size_t kKeptRequests = 4096;

}  // namespace

struct RequestList::Storage {
  std::vector<Request> requests;
  std::deque<Error> errors;  // stays in place as it grows
};

RequestList::RequestList()
    : storage_([]() -> Storage& {
        thread_local Storage storage;
        return storage;
      }()) {}

RequestList::~RequestList() {
  storage_.requests.clear();
  storage_.errors.clear();
  if (storage_.requests.capacity() > kKeptRequests) storage_.requests.shrink_to_fit();
}

void RequestList::readLegacy(const tent_request_t* entries, size_t count) {
  storage_.requests.resize(count);
  const auto* bytes = reinterpret_cast<const std::byte*>(entries);
  for (Request& request : storage_.requests) {
    tent_request_t entry;
    std::memcpy(&entry, bytes, sizeof entry);  // callers may have packed them
    bytes += sizeof entry;
    request.fields.surface = Surface::kLegacy;
    request.fields.opcode = entry.opcode;
    request.fields.target_offset = entry.target_offset;
    request.fields.length = entry.length;
    request.fields.priority = entry.priority;
    request.fields.transport_hint = entry.transport_hint;
    request.source = entry.source;
    request.target = entry.target_id;
  }
}

void RequestList::readV1(const void* entries, size_t count, size_t entry_stride, uint32_t schema_version,
                         Surface surface) {
  storage_.requests.resize(count);
  const auto* bytes = static_cast<const std::byte*>(entries);
  EntryV1 entry;
  for (Request& request : storage_.requests) {
    if (Error error = decodeEntryV1(bytes, entry_stride, schema_version, entry)) {
      request.unreadable = &storage_.errors.emplace_back(std::move(error));
    }
    bytes += entry_stride;
    request.fields = entry.fields;
    request.fields.surface = surface;
    request.source = entry.source;
    request.target = entry.target_id;
  }
}

std::span<const Request> RequestList::requests() const {
  return storage_.requests;
}

}  // namespace tent::abi
