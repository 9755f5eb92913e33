#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "common/interrupt.h"
#include "report/result_text.h"
#include "tent-submit/report.h"

namespace tent::tool {
namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kReset = "\x1b[0m";
constexpr size_t kLongestName = 40;

// Three digits of a number of units, each `step` times the one before.
template <size_t Count>
std::string rounded(double value, double step, const std::array<std::string_view, Count>& units) {
  size_t unit = 0;
  for (; value >= step && unit + 1 < Count; ++unit) value /= step;
  const int decimals = unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string timeText(uint64_t ns) {
  constexpr std::array<std::string_view, 4> kUnits{"ns", "us", "ms", "s"};
  return rounded(static_cast<double>(ns), 1000, kUnits);
}

std::string bytesText(uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  return rounded(static_cast<double>(bytes), 1024, kUnits);
}

std::string rateText(const std::optional<uint64_t>& bytes_per_second) {
  constexpr std::array<std::string_view, 5> kUnits{"B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"};
  return bytes_per_second ? rounded(static_cast<double>(*bytes_per_second), 1024, kUnits) : "-";
}

bool isBad(const Entry& entry) {
  const bool judged_bad = entry.verdict == Verdict::kRejected || entry.verdict == Verdict::kNotRejected;
  return judged_bad || (entry.execution && entry.execution->status != ExecutionStatus::kCompleted);
}

std::string_view statusText(const Entry& entry, bool dry_run) {
  switch (entry.verdict) {
    case Verdict::kRejected: return "rejected";
    case Verdict::kRejectedAsExpected: return "rejected, as expected";
    case Verdict::kNotRejected: return "accepted, not as expected";
    default: break;
  }
  if (!entry.execution) return dry_run ? "would run" : "not run";
  return entry.execution->status == ExecutionStatus::kNotRun ? "not run" : nameOf(entry.execution->status);
}

std::string_view verifiedText(const Execution& execution) {
  return !execution.verified ? "-" : *execution.verified ? "yes" : "NO";
}

class Table {
 public:
  Table(const Job& job, std::string& out) : job_(job), out_(out) {
    for (const Entry& entry : job.entries) {
      name_width_ = std::max(name_width_, std::min(entry.vector.name.size(), kLongestName));
    }
  }

  void heading() {
    line({"#", "NAME", "INTENT", "ASKS FOR", "GETS", "OVER", "BYTES", "TIME", "RATE", "TRIES", "VERIFIED"}, "STATUS");
  }

  void row(const Entry& entry, const Result& result) {
    const RequestedIntent& requested = result.decision.requested;
    const auto reached = [&](Normalized step) { return requested.normalized >= step; };
    std::array<std::string, kColumns> cells;
    cells.fill("-");
    cells[0] = std::to_string(entry.vector.index);
    cells[1] = escapeForTerminal(shorten(entry.vector.name, kLongestName));
    if (reached(Normalized::kIntentType)) cells[2] = nameOf(requested.intent_type);
    if (reached(Normalized::kPriority)) cells[3] = nameOf(requested.priority);
    if (result.decision.effective) cells[4] = nameOf(result.decision.effective->priority);
    if (result.decision.plan) cells[5] = nameOf(result.decision.plan->primary);
    if (entry.execution) {
      const Execution& execution = *entry.execution;
      cells[5] = execution.transport == Transport::kUnspec ? "-" : nameOf(execution.transport);
      if (cells[5] != "-" && execution.attempts.back().staged) cells[5] += " staged";
      cells[6] = formatSize(execution.bytes);
      cells[7] = timeText(execution.duration_ns);
      cells[8] = rateText(execution.bytesPerSecond());
      cells[9] = execution.repeats > 1 ? fmt::format("{} x{}", execution.attempts.size(), execution.repeats)
                                       : std::to_string(execution.attempts.size());
      cells[10] = verifiedText(execution);
    } else if (reached(Normalized::kArguments)) {
      cells[6] = formatSize(requested.length);
    }
    std::string status(statusText(entry, job_.options.dry_run));
    if (job_.options.common.color) status = fmt::format("{}{}{}", isBad(entry) ? kRed : kGreen, status, kReset);
    line(cells, status);
  }

 private:
  static constexpr size_t kColumns = 11;

  void line(const std::array<std::string, kColumns>& cells, std::string_view status) {
    fmt::format_to(std::back_inserter(out_), "{:>5}  {:<{}}  {:<19}  {:<8}  {:<6}  {:<11}", cells[0], cells[1],
                   name_width_, cells[2], cells[3], cells[4], cells[5]);
    fmt::format_to(std::back_inserter(out_), "  {:>10}  {:>8}  {:>10}  {:<5}  {:<8}  {}\n", cells[6], cells[7],
                   cells[8], cells[9], cells[10], status);
  }

  const Job& job_;
  std::string& out_;
  size_t name_width_ = 4;
};

// What to do about it where the message itself does not say.
std::string_view adviceFor(Reason reason) {
  switch (reason) {
    case Reason::kPeerLost:
    case Reason::kPeerUnreachable: return "see whether the target still runs, and run the file again";
    case Reason::kTimeout: return "see whether the target is stopped or overloaded, or give a longer --timeout";
    case Reason::kResourceExhausted: return "raise the limit that it names, or move less at once";
    case Reason::kNoTransport:
    case Reason::kHintUnavailable: return "tent-explain --probe tells what each transport lacks";
    default: return "";
  }
}

void appendFailure(std::string& out, const Job& job, const Entry& entry, const Result& result,
                   const Redactor& redactor) {
  const auto say = [&](std::string_view what, const std::string& message, std::string_view advice) {
    fmt::format_to(std::back_inserter(out), "{}: {}: {}\n", escapeForTerminal(entry.vector.name), what,
                   escapeForTerminal(message));
    if (!advice.empty()) fmt::format_to(std::back_inserter(out), "  {}\n", advice);
  };
  if (entry.verdict == Verdict::kNotRejected) {
    say("accepted", "its `expect` names a rejection", "mend the expectation, or run with the configuration it is for");
  } else if (entry.verdict == Verdict::kRejected) {
    const Error& error = result.decision.error;
    say(nameOf(error.reason), redactor.message(error), adviceFor(error.reason));
    for (const Rejected& rejected : result.decision.rejected) {
      fmt::format_to(std::back_inserter(out), "  not {}: {}\n", nameOf(rejected.backend),
                     escapeForTerminal(redactor.message(rejected)));
    }
    if (entry.vector.expect)
      out += "  its `expect` does not name this rejection; tent-explain --check tells where it differs\n";
  } else if (isBad(entry)) {
    const Error& error = entry.execution->error;
    const bool own_stop =
        !job.stopped.empty() && (error.reason == Reason::kCanceled || error.reason == Reason::kTimeout);
    say(statusText(entry, false), redactor.message(error), own_stop ? "" : adviceFor(error.reason));
    for (const Attempt& attempt : entry.execution->attempts) {
      if (attempt.reason == Reason::kNone) continue;
      fmt::format_to(std::back_inserter(out), "  {} failed: {}\n", nameOf(attempt.transport), nameOf(attempt.reason));
    }
  }
}

std::string summaryOf(const Job& job, const Tally& tally) {
  std::string text = fmt::format("{} vectors", tally.vectors);
  const auto add = [&text](size_t number, std::string_view what) {
    if (number > 0) text += fmt::format(", {} {}", number, what);
  };
  add(tally.count(ExecutionStatus::kCompleted), "completed");
  if (job.options.dry_run && job.stopped.empty()) add(tally.accepted, "would run");
  add(tally.count(ExecutionStatus::kFailed), "failed");
  add(tally.count(ExecutionStatus::kTimeout), "timed out");
  add(tally.count(ExecutionStatus::kCanceled), "canceled");
  add(tally.count(ExecutionStatus::kNotRun), "not run");
  add(tally.rejected_as_expected, "rejected as expected");
  add(tally.rejected - tally.rejected_as_expected, "rejected");
  add(tally.not_rejected, "accepted although rejection is expected");
  if (tally.transfers > 0) {
    text += fmt::format("; {} moved in {} transfers", bytesText(tally.bytes), tally.transfers);
    text += job.options.verify ? fmt::format(", {} verified at the destination", tally.verified) : ", not verified";
  } else {
    text += "; no byte moved";
  }
  if (job.faults > 0) text += fmt::format("; faults in the input: {}", job.faults);
  if (!job.stopped.empty()) text += fmt::format("; stopped: {}", job.stopped);
  return text;
}

}  // namespace

void writeTextReport(const Job& job, const Redactor& redactor, Output& output) {
  std::string& out = output.buffer();
  const auto judged = [](const Entry& entry) { return entry.verdict != Verdict::kUnknown; };
  if (job.options.common.verbose) {
    const TextStyle style{job.options.common.color, true};
    for (const Entry& entry : job.entries) {
      if (!judged(entry)) continue;
      appendText(out, resultOf(job, entry), contextOf(job, entry), redactor, style);
      out += '\n';
      output.flushIfLarge();
    }
  }
  Table table(job, out);
  if (std::any_of(job.entries.begin(), job.entries.end(), judged)) table.heading();
  for (const Entry& entry : job.entries) {
    if (!judged(entry)) continue;
    table.row(entry, resultOf(job, entry));
    output.flushIfLarge();
  }
  if (std::any_of(job.entries.begin(), job.entries.end(), isBad)) out += '\n';
  for (const Entry& entry : job.entries) {
    if (!judged(entry) || !isBad(entry)) continue;
    appendFailure(out, job, entry, resultOf(job, entry), redactor);
    output.flushIfLarge();
  }
  out += '\n' + summaryOf(job, tallyOf(job)) + '\n';
}

}  // namespace tent::tool
