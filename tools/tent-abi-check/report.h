// What a run of the tool has to say: named checks, each with its outcome and reason, and the table of clients and
// libraries; and the ways to print it.
//
// Thread safety: values; printing is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tent-abi-check/judge.h"

namespace tent::tool {

enum class Outcome : uint8_t { kPass, kWarn, kFail, kSkip };

struct Check {
  std::string name;  // "strides.too_small"
  Outcome outcome = Outcome::kPass;
  std::string reason;  // what was seen; for kSkip, why nothing was
  double seconds = 0;
  std::optional<Finding> finding;  // of a comparison
  bool analysed = true;            // false: the reason why nothing may be called compatible
};

// One client with one library.
struct MatrixCell {
  Outcome outcome = Outcome::kPass;
  std::string text;
};

struct Matrix {
  std::vector<std::string> libraries;
  std::vector<std::string> clients;
  std::vector<std::vector<MatrixCell>> cells;  // by client, then library
};

struct Report {
  std::string command;               // "run", "diff"
  std::vector<std::string> subject;  // what was checked: one library, or old and new
  std::vector<Check> checks;
  Matrix matrix;
  bool interrupted = false;
};

struct ReportCounts {
  size_t passed = 0;
  size_t warned = 0;
  size_t failed = 0;
  size_t skipped = 0;
  size_t not_analysed = 0;
};

enum class ReportFormat : uint8_t { kText, kJson, kJunit, kGithub };

struct ReportStyle {
  ReportFormat format = ReportFormat::kText;
  bool color = false;
  bool quiet = false;    // text: only what is not a pass
  bool verbose = false;  // text: also harmless changes, and how long each check took
};

std::string_view nameOf(Outcome outcome);  // "PASS"

ReportCounts countsOf(const Report& report);
// 0 only where something was checked, nothing failed, and everything that was asked for could be analysed.
int exitCodeOf(const Report& report);
// "compatible", "not compatible", "not analysed", "interrupted".
std::string_view answerOf(const Report& report);

std::string printReport(const Report& report, const ReportStyle& style);

// Each by its format, for printReport.
std::string textReport(const Report& report, const ReportStyle& style);
std::string jsonReport(const Report& report);
std::string junitReport(const Report& report);
std::string githubReport(const Report& report);

// A judgement as checks: one for each finding, one for each group without, one for what could not be compared.
std::vector<Check> checksOf(const Judgement& judgement);

}  // namespace tent::tool
