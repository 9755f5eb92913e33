#include "tent-submit/report.h"

#include "common/interrupt.h"
#include "common/json_file.h"
#include "report/result_json.h"

namespace tent::tool {
namespace {

void writeEntry(JsonWriter& json, const Job& job, const Entry& entry, const Redactor& redactor) {
  writeResult(json, resultOf(job, entry), redactor,
              [&](JsonWriter& more) { writeExecution(more, entry.execution, redactor); });
}

void writeJsonReport(const Job& job, const Redactor& redactor, Output& output) {
  JsonWriter json(output.buffer());
  beginJsonFile(json, "tent-submit", "results");
  for (const Entry& entry : job.entries) {
    if (entry.verdict == Verdict::kUnknown) continue;
    json.breakLine();
    writeEntry(json, job, entry, redactor);
    output.flushIfLarge();
  }
  const Tally tally = tallyOf(job);
  const Count counts[] = {{"vectors", tally.vectors},
                          {"ok", tally.accepted},
                          {"rejected", tally.rejected},
                          {"rejected_as_expected", tally.rejected_as_expected},
                          {"completed", tally.count(ExecutionStatus::kCompleted)},
                          {"failed", tally.count(ExecutionStatus::kFailed)},
                          {"canceled", tally.count(ExecutionStatus::kCanceled)},
                          {"timeout", tally.count(ExecutionStatus::kTimeout)},
                          {"not_run", tally.count(ExecutionStatus::kNotRun)},
                          {"verified", tally.verified},
                          {"transfers", tally.transfers},
                          {"bytes", tally.bytes}};
  endJsonFile(json, counts, {}, {job.faults, interrupted(), job.stopped});
  output.buffer() += '\n';
}

void writeLines(const Job& job, const Redactor& redactor, Output& output) {
  for (const Entry& entry : job.entries) {
    if (entry.verdict == Verdict::kUnknown) continue;
    JsonWriter line(output.buffer());
    writeEntry(line, job, entry, redactor);
    output.buffer() += '\n';
    output.flushIfLarge();
  }
}

}  // namespace

bool Tally::allCompleted() const {
  size_t others = 0;
  for (const size_t number : by_status) others += number;
  return others == count(ExecutionStatus::kCompleted);
}

Tally tallyOf(const Job& job) {
  Tally tally;
  for (const Entry& entry : job.entries) {
    if (entry.verdict == Verdict::kUnknown) continue;
    ++tally.vectors;
    const bool accepted = entry.verdict == Verdict::kAccepted || entry.verdict == Verdict::kNotRejected;
    ++(accepted ? tally.accepted : tally.rejected);
    if (entry.verdict == Verdict::kRejectedAsExpected) ++tally.rejected_as_expected;
    if (entry.verdict == Verdict::kNotRejected) ++tally.not_rejected;
    if (!entry.execution) continue;
    ++tally.by_status[static_cast<size_t>(entry.execution->status)];
    tally.transfers += entry.execution->repeats;
    tally.bytes += entry.execution->bytes;
    if (entry.execution->verified == true) ++tally.verified;
  }
  return tally;
}

void writeReport(const Job& job, const Redactor& redactor, Output& output) {
  switch (job.options.common.format) {
    case OutputFormat::kText: return writeTextReport(job, redactor, output);
    case OutputFormat::kJson: return writeJsonReport(job, redactor, output);
    case OutputFormat::kNdjson: return writeLines(job, redactor, output);
  }
}

}  // namespace tent::tool
