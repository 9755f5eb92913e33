// The report for people.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "tent-abi-check/report.h"

namespace tent::tool {
namespace {

std::string_view colorOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass: return "\x1b[32m";
    case Outcome::kWarn: return "\x1b[33m";
    case Outcome::kFail: return "\x1b[31m";
    case Outcome::kSkip: break;
  }
  return "\x1b[2m";
}

std::string wordOf(Outcome outcome, const ReportStyle& style) {
  if (!style.color) return std::string(nameOf(outcome));
  return fmt::format("{}{}\x1b[0m", colorOf(outcome), nameOf(outcome));
}

bool isShown(const Check& check, const ReportStyle& style) {
  const bool pass = check.outcome == Outcome::kPass && check.analysed;
  // The table has them.
  if (pass && check.name.starts_with("clients.")) return style.verbose;
  if (style.quiet) return !pass && check.outcome != Outcome::kSkip;
  // Harmless changes are what every release has.
  return style.verbose || !pass || !check.finding;
}

void addCheck(std::string& out, const Check& check, size_t width, const ReportStyle& style) {
  out +=
      fmt::format("{}  {:<{}}  {}", wordOf(check.outcome, style), check.name, width, escapeForTerminal(check.reason));
  if (style.verbose && check.seconds > 0) out += fmt::format(" ({:.2f} s)", check.seconds);
  out += '\n';
  const bool broken = check.finding && check.outcome == Outcome::kFail;
  if (broken) out += fmt::format("      {:<{}}  breaks {}\n", "", width, describe(check.finding->breaks));
}

constexpr size_t kMostOfCell = 60;  // what a client said is told in full with -v

void endLine(std::string& out) {
  while (out.ends_with(' ')) out.pop_back();
  out += '\n';
}

void addMatrix(std::string& out, const Matrix& matrix, const ReportStyle& style) {
  if (matrix.clients.empty()) return;
  size_t first = 0;
  for (const std::string& client : matrix.clients) first = std::max(first, escapeForTerminal(client).size());
  const auto text_of = [](const MatrixCell& cell) { return shorten(escapeForTerminal(cell.text), kMostOfCell); };
  out += fmt::format("\n{:<{}}", "", first);
  std::vector<size_t> widths;
  for (size_t column = 0; column < matrix.libraries.size(); ++column) {
    const std::string title = escapeForTerminal(matrix.libraries[column]);
    size_t width = title.size();
    for (const auto& row : matrix.cells) width = std::max(width, text_of(row[column]).size() + 6);
    widths.push_back(width);
    out += fmt::format("  {:<{}}", title, width);
  }
  endLine(out);
  for (size_t row = 0; row < matrix.clients.size(); ++row) {
    out += fmt::format("{:<{}}", escapeForTerminal(matrix.clients[row]), first);
    for (size_t column = 0; column < matrix.libraries.size(); ++column) {
      const MatrixCell& cell = matrix.cells[row][column];
      out += fmt::format("  {}  {:<{}}", wordOf(cell.outcome, style), text_of(cell), widths[column] - 6);
    }
    endLine(out);
  }
}

}  // namespace

std::string textReport(const Report& report, const ReportStyle& style) {
  std::string out;
  size_t width = 0;
  for (const Check& check : report.checks) {
    if (isShown(check, style)) width = std::max(width, check.name.size());
  }
  for (const Check& check : report.checks) {
    if (isShown(check, style)) addCheck(out, check, width, style);
  }
  addMatrix(out, report.matrix, style);
  const ReportCounts counts = countsOf(report);
  out += fmt::format("{}{}: {} passed, {} warned, {} failed, {} skipped", out.empty() ? "" : "\n", answerOf(report),
                     counts.passed, counts.warned, counts.failed, counts.skipped);
  if (counts.not_analysed > 0) out += fmt::format(", {} not analysed", counts.not_analysed);
  out += '\n';
  return out;
}

}  // namespace tent::tool
