// The C++ API: batches, submits and tasks.
#include <algorithm>
#include <limits>

#include "cpp/request_entries.h"
#include "cpp/results.h"
#include "tent/engine.h"

namespace tent {
inline namespace v1 {
namespace {

constexpr size_t kTasksMax = size_t{1} << 20;  // of a batch

Status submit(tent_engine_t engine, BatchID batch, const std::vector<Request>& requests,
              const tent_submit_options_t& options) {
  const RequestEntries entries(requests.data(), requests.size());
  const int code = tent_submit_requests_ex(engine, batch, entries.data(), entries.size(), sizeof(tent_request_v1_t),
                                           TENT_REQUEST_SCHEMA_V1, &options, nullptr);
  return statusOf(code, entries);
}

TransferStatus transferStatusOf(const tent_status_t& status) {
  return {static_cast<TransferStatusEnum>(status.status), status.transferred_bytes};
}

}  // namespace

BatchID TransferEngine::allocateBatch(size_t batch_size) {
  return tent_allocate_batch(handle_, batch_size);
}

Status TransferEngine::freeBatch(BatchID batch_id) {
  return statusOf(tent_free_batch(handle_, batch_id));
}

Status TransferEngine::submitTransfer(BatchID batch_id, const std::vector<Request>& requests, ValidationMode mode) {
  tent_submit_options_t options = TENT_SUBMIT_OPTIONS_INIT;
  options.mode = static_cast<int32_t>(mode);
  return submit(handle_, batch_id, requests, options);
}

Status TransferEngine::submitTransfer(BatchID batch_id, const std::vector<Request>& requests,
                                      const Notification& notification, ValidationMode mode) {
  if (Status status = checkNotification(notification); !status.ok()) return status;
  tent_submit_options_t options = TENT_SUBMIT_OPTIONS_INIT;
  options.mode = static_cast<int32_t>(mode);
  options.notification_name = notification.name.c_str();
  options.notification_message = notification.msg.c_str();
  return submit(handle_, batch_id, requests, options);
}

Status TransferEngine::explainTransfer(const std::vector<Request>& requests, const ExplainOptions& options,
                                       std::string& json) {
  if (options.environment && hasNul(*options.environment)) {
    return refusal(kBadConfiguration, "the environment holds a NUL byte");
  }
  tent_explain_options_t all = TENT_EXPLAIN_OPTIONS_INIT;
  all.mode = static_cast<int32_t>(options.mode);
  // The same for both calls, so that their texts have the same length.
  all.now_ns = options.now_ns == 0 ? tent_monotonic_now_ns() : options.now_ns;
  all.environment = options.environment ? options.environment->c_str() : nullptr;
  all.surface = options.surface;
  const RequestEntries entries(requests.data(), requests.size());
  std::string text;
  size_t size = 0;
  while (true) {
    const int code = tent_explain_requests(handle_, entries.data(), entries.size(), sizeof(tent_request_v1_t),
                                           TENT_REQUEST_SCHEMA_V1, &all, text.empty() ? nullptr : text.data(), &size);
    if (code == TENT_OK && !text.empty()) break;
    // The target may have changed in between, and its explanation grown.
    if (code != TENT_OK && (text.empty() || size <= text.size())) return lastStatus();
    text.resize(size);
  }
  text.resize(size - 1);
  entries.restoreNuls(text);
  json = std::move(text);
  return {};
}

Status TransferEngine::getTransferStatus(BatchID batch_id, size_t task_id, TransferStatus& status) {
  tent_status_t found{};
  if (tent_task_status(handle_, batch_id, task_id, &found) != 0) return lastStatus();
  status = transferStatusOf(found);
  return {};
}

Status TransferEngine::getTransferStatus(BatchID batch_id, std::vector<TransferStatus>& statuses) {
  std::vector<tent_status_t> found(64);
  while (true) {
    size_t count = found.size();
    if (tent_task_status_list(handle_, batch_id, found.data(), &count) == 0) {
      statuses.clear();
      std::transform(found.begin(), found.begin() + static_cast<ptrdiff_t>(count), std::back_inserter(statuses),
                     transferStatusOf);
      return {};
    }
    Status status = lastStatus();
    if (status.reason() != TENT_REASON_OUT_OF_RANGE || found.size() >= kTasksMax) return status;
    found.resize(found.size() * 4);
  }
}

Status TransferEngine::getTransferStatus(BatchID batch_id, TransferStatus& overall) {
  tent_status_t found{};
  if (tent_overall_status(handle_, batch_id, &found) != 0) return lastStatus();
  overall = transferStatusOf(found);
  return {};
}

Status TransferEngine::getTransferError(BatchID batch_id, size_t task_id, Status& error) {
  tent_result_t result = TENT_RESULT_INIT;
  if (tent_task_error(handle_, batch_id, task_id, &result) != TENT_OK) return lastStatus();
  error = Status(result);
  return {};
}

Status TransferEngine::cancelTransfer(BatchID batch_id, size_t task_id) {
  return statusOf(tent_cancel_task(handle_, batch_id, task_id));
}

Status TransferEngine::waitBatch(BatchID batch_id, std::chrono::nanoseconds timeout) {
  const bool without_limit = timeout == std::chrono::nanoseconds::max();
  const uint64_t limit_ns = timeout.count() < 0 ? 0 : static_cast<uint64_t>(timeout.count());
  return statusOf(tent_wait_batch(handle_, batch_id, without_limit ? std::numeric_limits<uint64_t>::max() : limit_ns));
}

Status TransferEngine::getBatchFd(BatchID batch_id, int& fd) {
  return statusOf(tent_batch_fd(handle_, batch_id, &fd));
}

}  // namespace v1
}  // namespace tent
