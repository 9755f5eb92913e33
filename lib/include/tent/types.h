// The values of the C++ API, by the names that TENT's callers know. Numbers are those of the C API.
//
// Enumerations have a fixed underlying type, so any int32 is a value of them: what is not one of the names is refused
// where requests are checked, in the same words for every language (RFC "C++ API").
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tent/transfer_engine.h"

namespace tent {
inline namespace v1 {

using SegmentID = uint64_t;    // LOCAL_SEGMENT_ID: the engine's own memory
using BatchID = uint64_t;      // 0: none
using Location = std::string;  // "cpu", "cpu:N", "cuda:N"; "" and "*": cpu

inline constexpr int PRIO_HIGH = 0;
inline constexpr int PRIO_MEDIUM = 1;
inline constexpr int PRIO_LOW = 2;

enum TransportType : int32_t {
  UNSPEC = TRANSPORT_UNSPEC,
  RDMA = TRANSPORT_RDMA,
  MNNVL = TRANSPORT_MNNVL,
  SHM = TRANSPORT_SHM,
  NVLINK = TRANSPORT_NVLINK,
  GDS = TRANSPORT_GDS,
  IOURING = TRANSPORT_IOURING,
  TCP = TRANSPORT_TCP,
  AscendDirect = TRANSPORT_ASCEND_DIRECT,
  SUNRISE_LINK = TRANSPORT_SUNRISE_LINK,
  TPU = TRANSPORT_TPU,
  UB = TRANSPORT_UB,
  MPCOMM = TRANSPORT_MPCOMM,
};

enum class IntentType : int32_t {
  INTENT_UNSPEC = TENT_INTENT_UNSPEC,
  FOREGROUND_GET = TENT_INTENT_FOREGROUND_GET,
  BACKGROUND_PREFETCH = TENT_INTENT_BACKGROUND_PREFETCH,
  MIGRATION = TENT_INTENT_MIGRATION,
  CHECKPOINT = TENT_INTENT_CHECKPOINT,
  WEIGHT_LOADING = TENT_INTENT_WEIGHT_LOADING,
  STAGING_INTERNAL = TENT_INTENT_STAGING_INTERNAL,  // refused: TENT's own
};

// A wish, not a right: the contract decides.
enum class RequestedPriority : int32_t {
  UNSPEC = TENT_PRIORITY_UNSPEC,
  HIGH = TENT_PRIORITY_HIGH,
  MEDIUM = TENT_PRIORITY_MEDIUM,
  LOW = TENT_PRIORITY_LOW,
};

enum class ValidationMode : int32_t {
  CONFIGURED = TENT_MODE_CONFIGURED,  // by the engine; strict where it is not
  STRICT = TENT_MODE_STRICT,
  COMPAT = TENT_MODE_COMPAT,
};

// One transfer and what it means.
struct Request {
  enum OpCode : int32_t { READ = OPCODE_READ, WRITE = OPCODE_WRITE };

  OpCode opcode = READ;
  void* source = nullptr;  // this process's memory, to be mapped until the task has ended
  SegmentID target_id = LOCAL_SEGMENT_ID;
  uint64_t target_offset = 0;  // an address inside the target's buffers
  size_t length = 0;           // bytes, at least 1
  int priority = PRIO_HIGH;    // as deployed; also a requested value. It cannot say "unspecified": see the last field
  std::optional<std::string> policy_name = std::nullopt;
  TransportType transport_hint = UNSPEC;
  uint64_t deadline_ns = 0;  // CLOCK_MONOTONIC of this host (deadlineAfter); 0: none
  IntentType intent_type = IntentType::INTENT_UNSPEC;
  std::optional<RequestedPriority> requested_priority = std::nullopt;  // instead of `priority`, where it is set
  uint64_t flags = 0;                                                  // none is defined
};

// What a request means once it was checked, before any contract or target was asked.
struct NormalizedTransferIntent {
  enum class DeadlineState : int32_t {
    NONE = TENT_DEADLINE_NONE,
    PENDING = TENT_DEADLINE_PENDING,
    EXPIRED = TENT_DEADLINE_EXPIRED,
  };
  // What compatibility mode changed instead of refusing the request.
  struct Downgrade {
    int32_t field = TENT_FIELD_NONE;  // TENT_FIELD_*
    int32_t reason = 0;               // TENT_DOWNGRADE_*
    int64_t from = 0;
    int64_t to = 0;
  };

  Request::OpCode opcode = Request::READ;
  uint64_t target_offset = 0;
  uint64_t length = 0;
  IntentType intent_type = IntentType::INTENT_UNSPEC;
  RequestedPriority requested_priority = RequestedPriority::UNSPEC;
  DeadlineState deadline_state = DeadlineState::NONE;
  uint64_t deadline_ns = 0;
  uint64_t remaining_ns = 0;  // at the time of the check
  std::optional<std::string> policy_name;
  TransportType transport_hint = UNSPEC;
  uint64_t flags = 0;
  std::vector<Downgrade> downgrades;
};

enum TransferStatusEnum : int32_t {
  INITIAL = STATUS_WAITING,
  PENDING = STATUS_PENDING,
  INVALID = STATUS_INVALID,
  CANCELED = STATUS_CANCELED,
  COMPLETED = STATUS_COMPLETED,
  TIMEOUT = STATUS_TIMEOUT,
  FAILED = STATUS_FAILED,
};

struct TransferStatus {
  TransferStatusEnum s = INITIAL;
  uint64_t transferred_bytes = 0;
};

// What peers may do with registered memory.
enum Permission : int32_t {
  kLocalReadWrite = PERM_LOCAL_READ_WRITE,
  kGlobalReadOnly = PERM_GLOBAL_READ_ONLY,
  kGlobalReadWrite = PERM_GLOBAL_READ_WRITE,
};

struct MemoryOptions {
  Location location;
  Permission perm = kGlobalReadWrite;
  TransportType type = UNSPEC;  // or one that the engine serves
};

struct SegmentInfo {
  enum Type { Memory = TYPE_MEMORY, File = TYPE_FILE };
  struct Buffer {
    uint64_t base = 0;  // address in the process of the segment
    uint64_t length = 0;
    Location location;
  };
  Type type = Memory;
  std::vector<Buffer> buffers;
};

// A short message to the application at the other end. Neither text may hold a NUL byte.
struct Notification {
  std::string name;                     // up to 255 bytes
  std::string msg;                      // up to 4095 bytes
  SegmentID sender = LOCAL_SEGMENT_ID;  // of one received: the sender's segment, where it is open here; else 0
};

struct NicLoadStat {
  std::string device_name;
  uint64_t inflight_bytes = 0;
  double ewma_bandwidth_bps = 0;
};

struct ExplainOptions {
  ValidationMode mode = ValidationMode::CONFIGURED;
  uint64_t now_ns = 0;                     // the time to decide at; 0: now
  std::optional<std::string> environment;  // JSON of an environment to plan against; absent: as it is
  int32_t surface = TENT_SURFACE_CPP;      // TENT_SURFACE_*: for those who build an interface of their own on this one
};

}  // namespace v1
}  // namespace tent
