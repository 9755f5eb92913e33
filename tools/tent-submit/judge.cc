#include "tent-submit/judge.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "common/interrupt.h"
#include "report/expectation.h"
#include "report/result_json.h"

namespace tent::tool {
namespace {

// Whether `expect` says that the vector is rejected, in whichever of the ways it may say so.
bool expectsRejection(const JsonValue& expect) {
  const JsonValue* status = expect.find("status");
  const JsonValue* reason = expect.find("reason");
  const JsonValue* error = expect.find("error");
  return (status != nullptr && status->string != "ok") ||
         (reason != nullptr && reason->kind == JsonValue::Kind::kString) ||
         (error != nullptr && error->kind == JsonValue::Kind::kObject);
}

// What a vector expects is compared with what was decided, not with what may be shown of it.
bool meets(const Result& result, const JsonValue& expect) {
  const Redactor unredacted(Redaction::kNone);
  FaultList faults("result");
  const auto actual = parseJson(resultText(result, unredacted), faults);
  return unmetExpectations(expect, actual.value()).empty();
}

Verdict verdictOf(const Vector& vector, const Result& result) {
  const bool expects_rejection = vector.expect && expectsRejection(*vector.expect);
  if (!result.decision.error) return expects_rejection ? Verdict::kNotRejected : Verdict::kAccepted;
  return expects_rejection && meets(result, *vector.expect) ? Verdict::kRejectedAsExpected : Verdict::kRejected;
}

Error unknownSegment(const Vector& vector) {
  const std::string& segment = vector.target_segment;
  return {Reason::kUnknownSegment, Field::kTargetId, -1, segment,
          segment.empty()
              ? "no peer takes the vectors without a segment: give --peer HOST:PORT"
              : fmt::format("no peer of this name is given: give --peer {}=HOST:PORT", escapeForTerminal(segment))};
}

// Where the bytes would go. What explain has to say about a request comes first.
Error place(const Job& job, Entry& entry) {
  if (!entry.peer) return unknownSegment(entry.vector);
  if (entry.vector.fields.length == 0) return {};  // of a legacy caller: nothing goes anywhere
  auto address = locateTarget(job.peers[*entry.peer], entry.vector);
  if (!address) return std::move(address.error());
  entry.address = *address;
  return {};
}

}  // namespace

void judge(Job& job) {
  for (Entry& entry : job.entries) {
    if (interrupted()) return;
    entry.peer = findPeer(job.peers, entry.vector.target_segment);
    entry.now_ns = monotonicNowNs();
    Result result = resultOf(job, entry);
    if (!result.decision.error) {
      entry.mode = result.mode;
      entry.priority = result.decision.effective->priority;
      entry.primary = result.decision.plan->primary;
      entry.misplaced = place(job, entry);
      if (entry.misplaced) result = resultOf(job, entry);
    }
    entry.verdict = verdictOf(entry.vector, result);
  }
}

std::string objectionTo(const Job& job) {
  const auto count = [&job](Verdict verdict) {
    return std::count_if(job.entries.begin(), job.entries.end(),
                         [&](const Entry& entry) { return entry.verdict == verdict; });
  };
  if (const auto rejected = count(Verdict::kRejected); rejected > 0) {
    return fmt::format("{} rejected", rejected);
  }
  if (const auto not_rejected = count(Verdict::kNotRejected); not_rejected > 0) {
    return fmt::format("{} accepted although rejection is expected", not_rejected);
  }
  const Transport required = job.options.required;
  if (required == Transport::kUnspec) return "";
  const auto other = [&](const Entry& entry) {
    return entry.verdict == Verdict::kAccepted && entry.primary != required;
  };
  const auto first = std::find_if(job.entries.begin(), job.entries.end(), other);
  if (first == job.entries.end()) return "";
  return fmt::format("{} would not go over {}, as --require wants; {} would go over {}",
                     std::count_if(job.entries.begin(), job.entries.end(), other), nameOf(required),
                     escapeForTerminal(first->vector.name), nameOf(first->primary));
}

}  // namespace tent::tool
