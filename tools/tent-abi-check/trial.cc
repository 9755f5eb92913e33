#include "tent-abi-check/trial.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tent::tool {

void require(bool met, const std::string& otherwise) {
  if (!met) throw Unmet(otherwise);
}

tent_result_t lastError(const Api& api) {
  tent_result_t result = TENT_RESULT_INIT;
  require(api.tent_last_error(&result) == TENT_OK, "tent_last_error fails with a tent_result of the header's size");
  return result;
}

std::string answerText(const Api& api, int code) {
  if (code == TENT_OK) return "it was accepted";
  const tent_result_t error = lastError(api);
  const auto text = [](const char* name) { return name == nullptr ? "?" : name; };
  return fmt::format("it gave {}, the last error being {} {} (field {}): {}", code, text(error.category_name),
                     text(error.reason_name), text(error.field_name),
                     std::string(error.message, strnlen(error.message, sizeof error.message)));
}

void requireRefused(const Api& api, int code, const Refusal& expected, const std::string& what) {
  const auto wrong = [&] {
    return fmt::format("{}: expected code {} with reason {}, but {}", what, expected.code, expected.reason,
                       answerText(api, code));
  };
  require(code == expected.code, wrong());
  const tent_result_t error = lastError(api);
  require(error.category == expected.code && error.reason == expected.reason, wrong());
  require(expected.field < 0 || error.field == expected.field,
          fmt::format("{}: expected field {}, but it is {}", what, expected.field, error.field));
}

void requireAccepted(const Api& api, int code, const std::string& what) {
  require(code == TENT_OK, fmt::format("{}: expected to be accepted, but {}", what, answerText(api, code)));
}

Trial::Trial(const Api& functions, const std::string& config) : api(functions), local(kBytes) {
  const auto create = [&] {
    if (!config.empty()) api.tent_load_config_from_file(config.c_str());
    return api.tent_create_engine();
  };
  target = create();
  initiator = create();
  require(target != nullptr && initiator != nullptr, "tent_create_engine gives NULL with the default configuration");
  std::array<char, 256> name{};
  require(api.tent_segment_name(target, name.data(), name.size()) == 0, "tent_segment_name fails on a new engine");
  void* memory = nullptr;
  require(api.tent_allocate_memory(target, &memory, kBytes, "cpu") == 0, "tent_allocate_memory fails");
  remote = static_cast<unsigned char*>(memory);
  for (size_t i = 0; i < kBytes; ++i) local[i] = static_cast<unsigned char>(i * 7 + 1);
  require(api.tent_register_memory(initiator, local.data(), kBytes) == 0, "tent_register_memory fails");
  require(api.tent_open_segment(initiator, &segment, name.data()) == 0, "tent_open_segment fails on the other engine");
  batch = api.tent_allocate_batch(initiator, 64);
  require(batch != 0, "tent_allocate_batch fails");
}

Trial::~Trial() {
  // Each ends what is in flight; nothing of `local` is used after.
  api.tent_destroy_engine(initiator);
  api.tent_destroy_engine(target);
}

template <typename Request>
Request Trial::between(Request out, int opcode, size_t offset, size_t length) {
  out.opcode = opcode;
  out.source = local.data() + offset;
  out.target_id = segment;
  out.target_offset = reinterpret_cast<uintptr_t>(remote) + offset;
  out.length = length;
  return out;
}

tent_request_v1_t Trial::request(size_t offset, size_t length) {
  return between(tent_request_v1_t TENT_REQUEST_V1_INIT, OPCODE_WRITE, offset, length);
}

tent_request_t Trial::legacy(int opcode, size_t offset, size_t length) {
  return between(tent_request_t{}, opcode, offset, length);
}

int Trial::submit(const void* entries, size_t count, size_t stride, uint32_t schema) {
  return api.tent_submit_requests(initiator, batch, entries, count, stride, schema);
}

int Trial::finish() {
  tent_status_t status{};
  for (;;) {
    require(api.tent_overall_status(initiator, batch, &status) == 0, "tent_overall_status fails");
    if (status.status != STATUS_PENDING && status.status != STATUS_WAITING) return status.status;
    sched_yield();
  }
}

size_t Trial::tasks() {
  std::array<tent_status_t, 64> statuses{};
  size_t count = statuses.size();
  require(api.tent_task_status_list(initiator, batch, statuses.data(), &count) == 0, "tent_task_status_list fails");
  return count;
}

bool Trial::arrived(size_t offset, size_t length) const {
  return std::memcmp(local.data() + offset, remote + offset, length) == 0;
}

void Trial::requireUntouched(const std::string& after) {
  const bool moved = std::any_of(remote, remote + kBytes, [](unsigned char byte) { return byte != 0; });
  require(!moved, "bytes have moved after " + after);
  const size_t count = tasks();
  require(count == 0, fmt::format("the batch has {} tasks after {}", count, after));
}

GuardedPage::GuardedPage() : bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
  void* const pages = mmap(nullptr, 2 * bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw Skipped("no memory for two pages");
  begin_ = static_cast<char*>(pages);
  if (mprotect(end(), bytes_, PROT_NONE) != 0) throw Skipped("a page cannot be made unreadable");
}

GuardedPage::~GuardedPage() {
  munmap(begin_, 2 * bytes_);
}

}  // namespace tent::tool
