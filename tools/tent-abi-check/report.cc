#include "tent-abi-check/report.h"

#include <algorithm>

#include "common/exit_code.h"

namespace tent::tool {
namespace {

Outcome outcomeOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHarmless: return Outcome::kPass;
    case Verdict::kDoubtful: return Outcome::kWarn;
    case Verdict::kBreaks: break;
  }
  return Outcome::kFail;
}

}  // namespace

std::string_view nameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass: return "PASS";
    case Outcome::kWarn: return "WARN";
    case Outcome::kFail: return "FAIL";
    case Outcome::kSkip: break;
  }
  return "SKIP";
}

ReportCounts countsOf(const Report& report) {
  ReportCounts counts;
  for (const Check& check : report.checks) {
    if (!check.analysed) {
      ++counts.not_analysed;
    } else {
      switch (check.outcome) {
        case Outcome::kPass: ++counts.passed; break;
        case Outcome::kWarn: ++counts.warned; break;
        case Outcome::kFail: ++counts.failed; break;
        case Outcome::kSkip: ++counts.skipped; break;
      }
    }
  }
  return counts;
}

int exitCodeOf(const Report& report) {
  if (report.interrupted) return kExitInterrupted;
  const ReportCounts counts = countsOf(report);
  if (counts.failed > 0) return kExitNo;
  if (counts.not_analysed > 0 || counts.passed == 0) return kExitInput;
  return kExitOk;
}

std::string_view answerOf(const Report& report) {
  switch (exitCodeOf(report)) {
    case kExitOk: return "compatible";
    case kExitNo: return "not compatible";
    case kExitInterrupted: return "interrupted";
    default: return "not analysed";
  }
}

std::string printReport(const Report& report, const ReportStyle& style) {
  switch (style.format) {
    case ReportFormat::kJson: return jsonReport(report);
    case ReportFormat::kJunit: return junitReport(report);
    case ReportFormat::kGithub: return githubReport(report);
    case ReportFormat::kText: break;
  }
  return textReport(report, style);
}

std::vector<Check> checksOf(const Judgement& judgement) {
  std::vector<Check> checks;
  for (const std::string& what : judgement.not_compared) {
    checks.push_back({"baseline.not_compared", Outcome::kFail, what, 0, std::nullopt, false});
  }
  for (const char* group : kGroups) {
    const std::string name = std::string("baseline.") + group;
    bool clean = true;
    for (const Finding& finding : judgement.findings) {
      if (std::string_view(finding.group) != group) continue;
      clean = clean && finding.verdict == Verdict::kHarmless;
      checks.push_back({name + "." + finding.rule, outcomeOf(finding.verdict), finding.sentence, 0, finding, true});
    }
    const auto left_out = std::find_if(judgement.left_out.begin(), judgement.left_out.end(),
                                       [&](const LeftOut& one) { return std::string_view(one.group) == group; });
    if (left_out != judgement.left_out.end()) {
      checks.push_back({name, Outcome::kSkip, left_out->why, 0, std::nullopt, true});
    } else if (clean) {
      checks.push_back({name, Outcome::kPass, "nothing that breaks anybody", 0, std::nullopt, true});
    }
  }
  return checks;
}

}  // namespace tent::tool
