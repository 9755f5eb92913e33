#include "tent-submit/execution.h"

#include "plan/plan.h"

namespace tent::tool {

std::string_view nameOf(ExecutionStatus status) {
  switch (status) {
    case ExecutionStatus::kCompleted: return "completed";
    case ExecutionStatus::kFailed: return "failed";
    case ExecutionStatus::kCanceled: return "canceled";
    case ExecutionStatus::kTimeout: return "timeout";
    case ExecutionStatus::kNotRun: return "not_run";
  }
  return "";
}

void Execution::add(const Outcome& outcome) {
  const TaskReport& report = outcome.report;
  const bool first = repeats++ == 0;
  bytes += report.status.transferred_bytes;
  if (report.ended_ns > report.submitted_ns) duration_ns += report.ended_ns - report.submitted_ns;
  if (first) {
    verified = outcome.verified;
    if (report.dispatch_order > 0) dispatch_order = report.dispatch_order;
  } else if (verified != false) {
    const bool both = verified.has_value() && outcome.verified.has_value();
    verified = both || outcome.verified == false ? outcome.verified : std::nullopt;
  }
  const bool first_failure = status == ExecutionStatus::kCompleted && outcome.status != ExecutionStatus::kCompleted;
  const bool more_tries = status == outcome.status && report.attempt_count > attempts.size();
  if (!first && !first_failure && !more_tries) return;
  status = outcome.status;
  if (report.carriedBy() != Transport::kUnspec) transport = report.carriedBy();
  error = outcome.error;
  attempts.assign(report.attempts.begin(), report.attempts.begin() + static_cast<std::ptrdiff_t>(report.attempt_count));
}

void Execution::cutShort(ExecutionStatus why, const Error& because) {
  if (status != ExecutionStatus::kCompleted && status != ExecutionStatus::kNotRun) return;
  status = repeats == 0 ? ExecutionStatus::kNotRun : why;
  if (verified == true) verified.reset();  // of some of it only
  error = because;
}

std::optional<uint64_t> Execution::bytesPerSecond() const {
  if (bytes == 0 || duration_ns == 0) return std::nullopt;
  return static_cast<uint64_t>(static_cast<long double>(bytes) * 1e9L / static_cast<long double>(duration_ns));
}

namespace {

void nameOrNull(JsonWriter& json, std::string_view key, std::string_view name) {
  name.empty() ? json.nullField(key) : json.field(key, name);
}

void writeAttempts(JsonWriter& json, const std::vector<Attempt>& attempts) {
  json.beginArray();
  for (const Attempt& attempt : attempts) {
    json.beginObject();
    json.field("transport", nameOf(attempt.transport));
    json.field("path_kind", nameOf(attempt.staged ? PathKind::kStaged : PathKind::kDirect));
    nameOrNull(json, "reason", nameOf(attempt.reason));
    nameOrNull(json, "aftermath", attempt.reason == Reason::kNone ? "" : nameOf(attempt.aftermath));
    json.endObject();
  }
  json.endArray();
}

void writeError(JsonWriter& json, const Error& error, const Redactor& redactor) {
  if (!error) return json.null();
  const Category category = categoryOf(error.reason);
  json.beginObject();
  json.field("category", nameOf(category));
  json.key("code"), json.integer(codeOf(category));
  json.field("reason", nameOf(error.reason));
  json.field("message", redactor.message(error));
  json.endObject();
}

}  // namespace

void writeExecution(JsonWriter& json, const std::optional<Execution>& execution, const Redactor& redactor) {
  json.key("execution");
  if (!execution) return json.null();
  const auto rate = execution->bytesPerSecond();
  const auto& order = execution->dispatch_order;
  const bool carried = execution->transport != Transport::kUnspec;
  json.beginObject();
  json.field("status", nameOf(execution->status));
  nameOrNull(json, "transport", carried ? nameOf(execution->transport) : "");
  json.field("bytes", execution->bytes);
  json.field("duration_ns", execution->duration_ns);
  rate ? json.field("bytes_per_second", *rate) : json.nullField("bytes_per_second");
  json.field("repeats", execution->repeats);
  json.key("verified");
  execution->verified ? json.boolean(*execution->verified) : json.null();
  order ? json.field("dispatch_order", *order) : json.nullField("dispatch_order");
  json.key("attempts"), writeAttempts(json, execution->attempts);
  json.key("error"), writeError(json, execution->error, redactor);
  json.endObject();
}

}  // namespace tent::tool
