// The report for programs: JSON (schemas/abi-report.schema.json), JUnit's XML, and the commands of GitHub's runners.
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/text.h"
#include "common/build_info.h"
#include "common/json_file.h"
#include "report/json_writer.h"
#include "tent-abi-check/report.h"

namespace tent::tool {
namespace {

void writeStrings(JsonWriter& json, std::string_view key, const std::vector<std::string>& all) {
  json.key(key);
  json.beginArray();
  for (const std::string& one : all) json.string(one);
  json.endArray();
}

void writeFinding(JsonWriter& json, const Finding& finding) {
  json.field("rule", finding.rule);
  json.field("subject", finding.subject);
  finding.was.empty() ? json.nullField("old") : json.field("old", finding.was);
  finding.now.empty() ? json.nullField("new") : json.field("new", finding.now);
  json.key("breaks");
  json.beginArray();
  if (finding.breaks.old_client) json.string("old_client_new_library");
  if (finding.breaks.new_client) json.string("new_client_old_library");
  if (finding.breaks.source) json.string("source");
  json.endArray();
}

void writeCheck(JsonWriter& json, const Check& check) {
  json.beginObject();
  json.field("name", check.name);
  json.field("outcome", toLowerAscii(nameOf(check.outcome)));
  json.key("analysed"), json.boolean(check.analysed);
  json.field("reason", check.reason);
  json.key("seconds"), json.number(check.seconds);
  json.key("finding");
  if (check.finding) {
    json.beginObject();
    writeFinding(json, *check.finding);
    json.endObject();
  } else {
    json.null();
  }
  json.endObject();
}

void writeMatrix(JsonWriter& json, const Matrix& matrix) {
  json.key("matrix");
  json.beginArray();
  for (size_t row = 0; row < matrix.clients.size(); ++row) {
    for (size_t column = 0; column < matrix.libraries.size(); ++column) {
      const MatrixCell& cell = matrix.cells[row][column];
      json.breakLine();
      json.beginObject();
      json.field("client", matrix.clients[row]);
      json.field("library", matrix.libraries[column]);
      json.field("outcome", toLowerAscii(nameOf(cell.outcome)));
      json.field("reason", cell.text);
      json.endObject();
    }
  }
  json.endArray();
}

std::string fullReason(const Check& check) {
  if (!check.finding || check.outcome != Outcome::kFail) return check.reason;
  return fmt::format("{} (breaks {})", check.reason, describe(check.finding->breaks));
}

// As the runner wants what it must not take for the end of a message or of a property.
std::string escapeCommand(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    const bool escaped = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    out += escaped ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

}  // namespace

std::string jsonReport(const Report& report) {
  std::string out;
  JsonWriter json(out);
  json.beginObject();
  json.field("schema_version", uint64_t{1});
  json.field("tool", "tent-abi-check");
  json.field("version", kVersion);
  json.field("command", report.command);
  writeStrings(json, "subject", report.subject);
  json.field("answer", answerOf(report));
  json.key("checks");
  json.beginArray();
  for (const Check& check : report.checks) json.breakLine(), writeCheck(json, check);
  json.endArray();
  json.breakLine();
  writeMatrix(json, report.matrix);
  json.breakLine();
  const ReportCounts counts = countsOf(report);
  json.key("summary");
  json.beginObject();
  for (const Count& count :
       {Count{"passed", counts.passed}, Count{"warned", counts.warned}, Count{"failed", counts.failed},
        Count{"skipped", counts.skipped}, Count{"not_analysed", counts.not_analysed}}) {
    json.field(count.name, uint64_t{count.number});
  }
  json.key("interrupted"), json.boolean(report.interrupted);
  json.endObject();
  json.breakLine();
  json.endObject();
  return out + '\n';
}

std::string junitReport(const Report& report) {
  pugi::xml_document document;
  pugi::xml_node suite = document.append_child("testsuites").append_child("testsuite");
  size_t failures = 0;
  size_t errors = 0;
  size_t skipped = 0;
  for (const Check& check : report.checks) {
    pugi::xml_node test = suite.append_child("testcase");
    test.append_attribute("classname") = fmt::format("tent-abi-check.{}", report.command).c_str();
    test.append_attribute("name") = escapeForTerminal(check.name).c_str();
    test.append_attribute("time") = fmt::format("{:.3f}", check.seconds).c_str();
    const std::string reason = escapeForTerminal(fullReason(check));
    if (!check.analysed) {
      ++errors;
      test.append_child("error").append_attribute("message") = reason.c_str();
    } else if (check.outcome == Outcome::kFail) {
      ++failures;
      test.append_child("failure").append_attribute("message") = reason.c_str();
    } else if (check.outcome == Outcome::kSkip) {
      ++skipped;
      test.append_child("skipped").append_attribute("message") = reason.c_str();
    } else {
      test.append_child("system-out").text() = fmt::format("{}: {}", nameOf(check.outcome), reason).c_str();
    }
  }
  suite.append_attribute("name") = "tent-abi-check";
  suite.append_attribute("tests") = report.checks.size();
  suite.append_attribute("failures") = failures;
  suite.append_attribute("errors") = errors + (report.interrupted ? 1 : 0);
  suite.append_attribute("skipped") = skipped;
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

std::string githubReport(const Report& report) {
  std::string out;
  for (const Check& check : report.checks) {
    const bool bad = check.outcome == Outcome::kFail || !check.analysed;
    if (!bad && check.outcome != Outcome::kWarn) continue;
    out += fmt::format("::{} title={}::{}\n", bad ? "error" : "warning",
                       escapeCommand("ABI: " + escapeForTerminal(check.name), true),
                       escapeCommand(escapeForTerminal(fullReason(check)), false));
  }
  const ReportCounts counts = countsOf(report);
  out +=
      fmt::format("::notice title=tent-abi-check::{}%3A {} passed, {} warned, {} failed, {} skipped, {} not analysed\n",
                  answerOf(report), counts.passed, counts.warned, counts.failed, counts.skipped, counts.not_analysed);
  return out;
}

}  // namespace tent::tool
