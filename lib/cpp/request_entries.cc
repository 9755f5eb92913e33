#include "cpp/request_entries.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>

#include "cpp/results.h"

namespace tent {
inline namespace v1 {
namespace {

// What a thread keeps for its next call.
constexpr size_t kKeptEntries = 4096;

constexpr char kInPlaceOfNul = '\1';

void replaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Requests have the priority of deployed callers, which knows no "unspecified" and takes what it does not know for low.
int32_t priorityOf(const Request& request) {
  if (request.requested_priority) return static_cast<int32_t>(*request.requested_priority);
  switch (request.priority) {
    case PRIO_HIGH: return TENT_PRIORITY_HIGH;
    case PRIO_MEDIUM: return TENT_PRIORITY_MEDIUM;
    default: return TENT_PRIORITY_LOW;
  }
}

}  // namespace

struct RequestEntries::Storage {
  std::vector<tent_request_v1_t> entries;
  std::deque<std::string> names;  // stays in place as it grows
};

RequestEntries::RequestEntries(const Request* requests, size_t count)
    : storage_([]() -> Storage& {
        thread_local Storage storage;
        return storage;
      }()) {
  storage_.entries.reserve(count);
  for (const Request* request = requests; request != requests + count; ++request) {
    tent_request_v1_t entry = TENT_REQUEST_V1_INIT;
    entry.opcode = request->opcode;
    entry.source = request->source;
    entry.target_id = request->target_id;
    entry.target_offset = request->target_offset;
    entry.length = request->length;
    entry.intent_type = static_cast<int32_t>(request->intent_type);
    entry.requested_priority = priorityOf(*request);
    entry.deadline_ns = request->deadline_ns;
    entry.transport_hint = request->transport_hint;
    entry.flags = request->flags;
    if (request->policy_name) {
      const std::string* name = &*request->policy_name;
      if (hasNul(*name)) {
        std::string& refused = storage_.names.emplace_back(*name);
        std::replace(refused.begin(), refused.end(), '\0', kInPlaceOfNul);
        name = &refused;
      }
      entry.policy_name = name->c_str();
    }
    storage_.entries.push_back(entry);
  }
}

RequestEntries::~RequestEntries() {
  storage_.entries.clear();
  storage_.names.clear();
  if (storage_.entries.capacity() > kKeptEntries) storage_.entries.shrink_to_fit();
}

void RequestEntries::restoreNuls(std::string& text) const {
  if (storage_.names.empty()) return;
  replaceAll(text, "\\x01", "\\x00");      // as sentences have it
  replaceAll(text, "\\u0001", "\\u0000");  // as JSON has it
}

const tent_request_v1_t* RequestEntries::data() const {
  return storage_.entries.data();
}

size_t RequestEntries::size() const {
  return storage_.entries.size();
}

Status statusOf(int code, const RequestEntries& entries) {
  if (code == TENT_OK) return {};
  tent_result_t result = TENT_RESULT_INIT;
  tent_last_error(&result);
  std::string message = result.message;
  entries.restoreNuls(message);
  message.copy(result.message, message.size());  // as long as before
  return Status(result);
}

}  // namespace v1
}  // namespace tent
