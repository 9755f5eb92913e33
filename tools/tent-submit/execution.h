// What became of a vector that was run: one outcome a repetition, and their sum. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/task.h"
#include "report/json_writer.h"
#include "report/redact.h"

namespace tent::tool {

enum class ExecutionStatus : uint8_t { kCompleted, kFailed, kCanceled, kTimeout, kNotRun };
std::string_view nameOf(ExecutionStatus status);  // "completed", "failed", "canceled", "timeout", "not_run"
inline constexpr int kExecutionStatusCount = 5;

// Of one repetition.
struct Outcome {
  ExecutionStatus status = ExecutionStatus::kNotRun;
  TaskReport report;             // as far as the engine told
  std::optional<bool> verified;  // absent: not compared
  Error error;                   // of every status but completed
};

// Of all repetitions so far: bytes and time are sums, the rest is told of the first that did not complete; where all
// did, of the one that took the most tries, so that a failover is seen. The transport is the last such one's that was
// carried.
struct Execution {
  ExecutionStatus status = ExecutionStatus::kNotRun;
  Transport transport = Transport::kUnspec;  // that carried it; kUnspec: none did
  uint64_t bytes = 0;
  uint64_t duration_ns = 0;  // from submit to end, waiting for others included
  uint64_t repeats = 0;      // that were submitted
  std::optional<bool> verified;
  std::optional<uint64_t> dispatch_order;
  std::vector<Attempt> attempts;
  Error error;

  void add(const Outcome& outcome);
  // The run has ended for `why` before all repetitions were submitted.
  void cutShort(ExecutionStatus why, const Error& because);

  std::optional<uint64_t> bytesPerSecond() const;
};

void writeExecution(JsonWriter& json, const std::optional<Execution>& execution, const Redactor& redactor);

}  // namespace tent::tool
