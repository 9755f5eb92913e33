// The C++ API of TENT: engines that move bytes between this process and others, by what their callers say the
// transfers mean (RFC "C++ API").
//
// It lies over the C API (tent/transfer_engine.h) and decides nothing itself: what a request means, gets and comes to
// is the same in every language, and a program built with these headers runs with later libraries of the same soname.
// Needs C++17. In CMake: find_package(tent), target tent::cpp.
//
//   tent::TransferEngine engine;
//   if (!engine.available()) return fail(engine.creationStatus().toString());
//
// Thread safety: members may be called from any thread; the destructor alone, once the other calls have returned. After
// fork() the child must not use the parent's engines, nor destroy them; it may make its own (convention 7 of the C API
// says more). Nothing here throws but std::bad_alloc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tent/status.h"
#include "tent/types.h"

namespace tent {
inline namespace v1 {

// Checks a request as submitTransfer does, as far as no engine is needed, in the same order and with the same errors.
// `out` is untouched on an error. `mode`: CONFIGURED is strict. `now_ns`: the time to check at; 0: now.
Status normalizeTransferIntent(const Request& request, NormalizedTransferIntent& out,
                               ValidationMode mode = ValidationMode::STRICT, uint64_t now_ns = 0);

// now + budget as Request::deadline_ns. deadline_error: a budget that is negative or over 30 days. A budget of 0 has
// expired, which is not the same as none.
Status deadlineAfter(std::chrono::nanoseconds budget, uint64_t& deadline_ns);

class TransferEngine {
 public:
  // `config`: the path of a configuration, or a JSON text (its first byte that is not a space is '{'); without one the
  // defaults. available() says whether it came to life, creationStatus() why not.
  TransferEngine();
  explicit TransferEngine(const std::string& config);
  // Ends what is in flight.
  ~TransferEngine();
  TransferEngine(const TransferEngine&) = delete;
  TransferEngine& operator=(const TransferEngine&) = delete;

  // What the destructor does, while other threads may still be in calls: these end, and later calls are refused
  // (null_engine). May be called again.
  void close();

  bool available() const;
  const Status& creationStatus() const { return creation_; }

  std::string getSegmentName() const;  // what peers pass to openSegment; "" where the engine is not available
  std::string getRpcServerAddress() const;
  uint16_t getRpcServerPort() const;

  // ---- segments

  // Connects to the engine of that name; the same name gives the same handle, to be closed as often as it was opened.
  // Blocks, at most some seconds.
  Status openSegment(SegmentID& handle, const std::string& segment_name);
  Status closeSegment(SegmentID handle);
  // The buffers that peers may reach, as the target describes itself now. Blocks as openSegment does.
  Status getSegmentInfo(SegmentID handle, SegmentInfo& info);

  // ---- memory

  // Zeroed memory that is registered; peers on this machine map it.
  Status allocateLocalMemory(void** addr, size_t size, const Location& location = "*");
  Status allocateLocalMemory(void** addr, size_t size, const MemoryOptions& options);
  Status freeLocalMemory(void* addr);
  // Registers the application's memory, which must stay mapped until it is unregistered. Registering the same again, or
  // what was allocated, succeeds. The forms with lists are all or nothing.
  Status registerLocalMemory(void* addr, size_t size, Permission permission = kGlobalReadWrite);
  Status registerLocalMemory(void* addr, size_t size, const MemoryOptions& options);
  Status registerLocalMemory(const std::vector<void*>& addrs, const std::vector<size_t>& sizes,
                             Permission permission = kGlobalReadWrite);
  Status registerLocalMemory(const std::vector<void*>& addrs, const std::vector<size_t>& sizes,
                             const MemoryOptions& options);
  // `size` 0, and no `sizes`: what was registered at the address.
  Status unregisterLocalMemory(void* addr, size_t size = 0);
  Status unregisterLocalMemory(const std::vector<void*>& addrs, const std::vector<size_t>& sizes = {});

  // ---- transfers

  // A batch with room for so many tasks; 0 on an error (lastStatus).
  BatchID allocateBatch(size_t batch_size);
  // Refused while tasks are in flight.
  Status freeBatch(BatchID batch_id);

  // All or nothing: after an error no byte has moved and no task slot is used; Status::index() is the first request to
  // blame. Requests become the next tasks of the batch. Copies what it needs of them.
  Status submitTransfer(BatchID batch_id, const std::vector<Request>& requests,
                        ValidationMode mode = ValidationMode::CONFIGURED);
  // Each target receives the notification once all of these tasks are completed, and not when one ends otherwise.
  Status submitTransfer(BatchID batch_id, const std::vector<Request>& requests, const Notification& notification,
                        ValidationMode mode = ValidationMode::CONFIGURED);
  // What submitTransfer would decide: a JSON array with the result object of each request (schemas/results.schema.json
  // "result"), also of those it would refuse. Submits nothing.
  Status explainTransfer(const std::vector<Request>& requests, const ExplainOptions& options, std::string& json);

  Status getTransferStatus(BatchID batch_id, size_t task_id, TransferStatus& status);
  Status getTransferStatus(BatchID batch_id, std::vector<TransferStatus>& statuses);
  // PENDING while a task is in flight.
  Status getTransferStatus(BatchID batch_id, TransferStatus& overall);
  // Why a task ended other than COMPLETED; ok in `error` while it has not.
  Status getTransferError(BatchID batch_id, size_t task_id, Status& error);
  // Asks that a task does not begin; poll it until its status is final.
  Status cancelTransfer(BatchID batch_id, size_t task_id);
  // Waits until no task of the batch is in flight. runtime_error/timeout when the time passed first.
  Status waitBatch(BatchID batch_id, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max());
  // A descriptor for poll(2): readable while no task of the batch is in flight. The engine's; gone with the batch.
  Status getBatchFd(BatchID batch_id, int& fd);

  // Replaces what the configuration decides about requests (`qos`, `policy`, `admission`) by what `config`, a path or a
  // JSON text, says: what is submitted from then on goes by it, what is in flight keeps what it was given. A fault
  // leaves everything as it was (bad_configuration). `needs_restart`, where it is given, gets the other keys in which
  // `config` differs from this engine's, which take a new engine.
  Status reloadPolicy(const std::string& config, std::string* needs_restart = nullptr);

  // ---- notifications

  Status sendNotification(SegmentID target_id, const Notification& notification);
  // What has arrived since the last call, which takes the place of what `notifications` held.
  Status receiveNotification(std::vector<Notification>& notifications);

  Status getNicLoadStats(std::vector<NicLoadStat>& stats);

 private:
  tent_engine_t handle_ = nullptr;
  Status creation_;
};

// The error of this thread's last call that had one, of whatever engine.
Status lastStatus();

}  // namespace v1
}  // namespace tent
