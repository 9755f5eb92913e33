// What a run prints. Thread safety: none.
#pragma once

#include <array>
#include <cstddef>

#include "common/output.h"
#include "report/redact.h"
#include "tent-submit/job.h"

namespace tent::tool {

struct Tally {
  size_t vectors = 0;
  size_t accepted = 0;
  size_t rejected = 0;  // as expected or not
  size_t rejected_as_expected = 0;
  size_t not_rejected = 0;  // of the accepted ones
  std::array<size_t, kExecutionStatusCount> by_status{};
  uint64_t transfers = 0;
  uint64_t bytes = 0;
  uint64_t verified = 0;  // vectors

  size_t count(ExecutionStatus status) const { return by_status[static_cast<size_t>(status)]; }
  // Whether all that was to run has run to its end.
  bool allCompleted() const;
};

Tally tallyOf(const Job& job);

// The results of all judged entries in the format of the options; complete in itself however the run ended.
void writeReport(const Job& job, const Redactor& redactor, Output& output);
// The part of it for people: a table, what failed and what to do about it, and a summary.
void writeTextReport(const Job& job, const Redactor& redactor, Output& output);

}  // namespace tent::tool
