// The C API: batches, submits and tasks.
#include <optional>

#include "abi/arguments.h"
#include "abi/entries.h"
#include "abi/handles.h"
#include "abi/result.h"
#include "abi/sized_structs.h"
#include "intent/entry.h"

using namespace tent;
using namespace tent::abi;

namespace {

constexpr tent_submit_options_t kSubmitDefaults = TENT_SUBMIT_OPTIONS_INIT;

struct EntryArray {
  const void* entries;
  size_t count;
  size_t stride;
  uint32_t schema;
};

SubmitFailure outcomeOf(tl::expected<void, SubmitFailure> submitted) {
  return submitted ? SubmitFailure{} : std::move(submitted.error());
}

// A submit of v1; reason kNone: it was accepted.
SubmitFailure submitV1(Engine& on, tent_batch_id_t batch, const EntryArray& array, const tent_submit_options_t* given,
                       bool notify) {
  auto options = readSized(given, kSubmitDefaults);
  if (!options) return failureOf(std::move(options.error()));
  const auto mode = readMode(options->mode, on.config().validation_mode);
  if (!mode) return failureOf(mode.error());
  if (array.count > 0 && array.entries == nullptr) return failureOf(nullEntries());
  if (Error error = on.checkRoom(batch, 0)) return failureOf(std::move(error));
  std::optional<Notification> notification;
  if (notify || options->notification_name != nullptr || options->notification_message != nullptr) {
    auto read = readNotification(options->notification_name, options->notification_message);
    if (!read) return failureOf(std::move(read.error()));
    notification = *std::move(read);
  }
  if (array.count == 0) return {};
  if (Error error = checkEntries(array.entries, array.count, array.stride, array.schema)) {
    return failureOf(std::move(error));
  }
  if (Error error = on.checkRoom(batch, array.count)) return failureOf(std::move(error));
  RequestList list;
  list.readV1(array.entries, array.count, array.stride, array.schema);
  return outcomeOf(on.submit(batch, list.requests(), *mode, notification ? &*notification : nullptr));
}

int32_t callSubmitV1(tent_engine_t engine, tent_batch_id_t batch, const EntryArray& array,
                     const tent_submit_options_t* options, bool notify, tent_result_t* result) {
  if (const Error wrong = checkResult(result)) return call([&] { return wrong; });
  const int32_t code = callOn(engine, [&](Engine& on) { return submitV1(on, batch, array, options, notify); });
  return answer(code, result);
}

int submitLegacy(tent_engine_t engine, tent_batch_id_t batch, const tent_request_t* entries, size_t count,
                 const char* name, const char* message, bool notify) {
  return legacyCallOn(engine, [&](Engine& on) -> SubmitFailure {
    if (count > 0 && entries == nullptr) return failureOf(nullEntries());
    if (Error error = on.checkRoom(batch, count)) return failureOf(std::move(error));
    std::optional<Notification> notification;
    if (notify) {
      auto read = readNotification(name, message);
      if (!read) return failureOf(std::move(read.error()));
      notification = *std::move(read);
    }
    RequestList list;
    list.readLegacy(entries, count);
    const ValidationMode mode = on.config().validation_mode.value_or(ValidationMode::kStrict);
    return outcomeOf(on.submit(batch, list.requests(), mode, notification ? &*notification : nullptr));
  });
}

tent_status_t statusOf(const TaskStatus& status) {
  return {static_cast<int>(status.state), status.transferred_bytes};
}

}  // namespace

extern "C" {

tent_batch_id_t tent_allocate_batch(tent_engine_t engine, size_t batch_size) {
  tent_batch_id_t id = 0;
  legacyCallOn(engine, [&](Engine& on) -> Error {
    auto batch = on.allocateBatch(batch_size);
    if (!batch) return std::move(batch.error());
    id = *batch;
    return {};
  });
  return id;
}

int tent_free_batch(tent_engine_t engine, tent_batch_id_t batch) {
  return legacyCallOn(engine, [&](Engine& on) { return on.freeBatch(batch); });
}

int tent_submit(tent_engine_t engine, tent_batch_id_t batch, tent_request_t* entries, size_t count) {
  return submitLegacy(engine, batch, entries, count, nullptr, nullptr, false);
}

int tent_submit_notif(tent_engine_t engine, tent_batch_id_t batch, tent_request_t* entries, size_t count,
                      const char* name, const char* message) {
  return submitLegacy(engine, batch, entries, count, name, message, true);
}

int tent_submit_requests(tent_engine_t engine, tent_batch_id_t batch, const void* entries, size_t count,
                         size_t entry_stride, uint32_t schema_version) {
  return callSubmitV1(engine, batch, {entries, count, entry_stride, schema_version}, nullptr, false, nullptr);
}

int tent_submit_requests_notif(tent_engine_t engine, tent_batch_id_t batch, const void* entries, size_t count,
                               size_t entry_stride, uint32_t schema_version, const char* name, const char* message) {
  tent_submit_options_t options = kSubmitDefaults;
  options.notification_name = name;
  options.notification_message = message;
  return callSubmitV1(engine, batch, {entries, count, entry_stride, schema_version}, &options, true, nullptr);
}

int tent_submit_requests_ex(tent_engine_t engine, tent_batch_id_t batch, const void* entries, size_t count,
                            size_t entry_stride, uint32_t schema_version, const tent_submit_options_t* options,
                            tent_result_t* result) {
  return callSubmitV1(engine, batch, {entries, count, entry_stride, schema_version}, options, false, result);
}

int tent_task_status(tent_engine_t engine, tent_batch_id_t batch, size_t task, tent_status_t* status) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    if (status == nullptr) return nullArgument("status");
    auto found = on.taskStatus(batch, task);
    if (!found) return std::move(found.error());
    *status = statusOf(*found);
    return {};
  });
}

int tent_task_status_list(tent_engine_t engine, tent_batch_id_t batch, tent_status_t* statuses, size_t* count) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    if (count == nullptr) return nullArgument("count");
    auto tasks = on.taskCount(batch);
    if (!tasks) return std::move(tasks.error());
    if (*tasks > 0 && statuses == nullptr) return nullArgument("statuses");
    if (*count < *tasks) {
      return tooShort("array", Field::kCount, *count, *tasks);
    }
    for (size_t i = 0; i < *tasks; ++i) {
      auto status = on.taskStatus(batch, i);
      if (!status) return std::move(status.error());
      statuses[i] = statusOf(*status);
    }
    *count = *tasks;
    return {};
  });
}

int tent_overall_status(tent_engine_t engine, tent_batch_id_t batch, tent_status_t* status) {
  return legacyCallOn(engine, [&](Engine& on) -> Error {
    if (status == nullptr) return nullArgument("status");
    auto found = on.batchStatus(batch);
    if (!found) return std::move(found.error());
    *status = statusOf(*found);
    return {};
  });
}

int tent_cancel_task(tent_engine_t engine, tent_batch_id_t batch, size_t task) {
  return legacyCallOn(engine, [&](Engine& on) { return on.cancel(batch, task); });
}

int tent_task_error(tent_engine_t engine, tent_batch_id_t batch, size_t task, tent_result_t* result) {
  return callOn(engine, [&](Engine& on) -> Error {
    if (result == nullptr) return nullArgument("result");
    if (Error error = checkResult(result)) return error;
    auto report = on.taskReport(batch, task);
    if (!report) return std::move(report.error());
    writeResult({std::move(report->error), 0}, result);
    return {};
  });
}

int tent_wait_batch(tent_engine_t engine, tent_batch_id_t batch, uint64_t timeout_ns) {
  return callOn(engine, [&](Engine& on) -> Error {
    const auto limit = timeout_ns == UINT64_MAX ? std::nullopt : std::optional(timeout_ns);
    auto ended = on.wait(batch, limit);
    if (!ended) return std::move(ended.error());
    return *ended ? Error{}
                  : Error{Reason::kTimeout, Field::kBatch, -1, batch, "tasks of the batch are still in flight"};
  });
}

int tent_batch_fd(tent_engine_t engine, tent_batch_id_t batch, int* fd) {
  return callOn(engine, [&](Engine& on) -> Error {
    if (fd == nullptr) return nullArgument("fd");
    auto descriptor = on.batchFd(batch);
    if (!descriptor) return std::move(descriptor.error());
    *fd = *descriptor;
    return {};
  });
}

}  // extern "C"
