// dump and diff: descriptions, and what changes between two of them.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "common/exit_code.h"
#include "tent-abi-check/commands.h"
#include "tent-abi-check/description_json.h"
#include "tent-abi-check/judge.h"

namespace tent::tool {
namespace {

namespace fs = std::filesystem;

// Replaces the file as a whole or not at all. The result says why it could not; "" it did.
std::string writeFile(const std::string& path, std::string_view text) {
  const std::string beside = path + ".new";
  {
    const Fd fd(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!fd) return std::generic_category().message(errno);
    while (!text.empty()) {
      const ssize_t written = write(fd.get(), text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const int error = errno;
        unlink(beside.c_str());
        return std::generic_category().message(error);
      }
      text.remove_prefix(static_cast<size_t>(written));
    }
  }
  std::error_code error;
  fs::rename(beside, path, error);
  if (!error) return "";
  unlink(beside.c_str());
  return error.message();
}

Report reportOf(std::vector<std::string> subject, const Judgement& judgement = {}) {
  Report report;
  report.command = "diff";
  report.subject = std::move(subject);
  report.checks = checksOf(judgement);
  return report;
}

// What a description lacks, unless that was not asked for; "" nothing.
std::string missingOf(const Description& description, const Options& options) {
  if (!description.constants_missing.empty()) return description.constants_missing;
  for (const AbiFunction& function : description.functions) {
    if (!lacksSymbol(description, function.name)) continue;
    return fmt::format("symbol {}, declared by the header, is not exported", function.name);
  }
  return options.without_types ? "" : description.types_missing;
}

int updateBaseline(const Options& options, const Description& now, Output& output) {
  const std::string& path = options.update_baseline;
  const auto refused = [&](const Failure& failure) {
    return refuse(failure, reportOf({path, options.library}), options, output);
  };
  std::error_code error;
  if (fs::exists(path, error)) {
    const auto was = readDescriptionFile(path);
    if (!was) return refused(was.error());
    if (was->types_missing.empty() && !now.types_missing.empty()) {
      return refuse(
          {kExitInput, fmt::format("{} is left as it is: it has types and prototypes, and of {} there are none "
                                   "({}); give its debug information, or another FILE",
                                   escapeForTerminal(path), escapeForTerminal(options.library), now.types_missing)});
    }
    output.buffer() +=
        printReport(reportOf({path, options.library}, judge(*was, now, {options.without_types})), options.style());
  }
  const std::string wrong = writeFile(path, descriptionText(now));
  if (wrong.empty()) return kExitOk;
  return refuse({kExitEnvironment, fmt::format("{} cannot be written: {}", escapeForTerminal(path), wrong)});
}

}  // namespace

int dumpLibrary(const Options& options, Output& output) {
  const bool for_reports = options.format == ReportFormat::kJunit || options.format == ReportFormat::kGithub;
  if (for_reports && options.update_baseline.empty()) {
    return refuseCommandLine("tent-abi-check", "dump prints JSON, or text with --format text");
  }
  // What is printed without --update-baseline is a description and no report.
  const auto refused = [&](const Failure& failure) {
    if (options.update_baseline.empty()) return refuse(failure);
    return refuse(failure, reportOf({options.update_baseline, options.library}), options, output);
  };
  const auto library = openLibrary(options.library);
  if (!library) return refused(library.error());
  const auto description = describeLibrary(*library, options.analysis());
  if (!description) return refused(description.error());
  const std::string missing = missingOf(*description, options);
  if (!options.update_baseline.empty()) {
    if (missing.empty()) return updateBaseline(options, *description, output);
    return refused(
        {kExitInput, fmt::format("{} is left as it is: {}", escapeForTerminal(options.update_baseline), missing)});
  }
  const bool text = options.format_given && options.format == ReportFormat::kText;
  if (text) return printLayout(options, output);
  output.buffer() += descriptionText(*description);
  if (missing.empty()) return kExitOk;
  return refuse(
      {kExitInput, fmt::format("not all of {} could be described: {}", escapeForTerminal(options.library), missing)});
}

int diffLibraries(const Options& options, Output& output) {
  const auto refused = [&](const Failure& failure) {
    return refuse(failure, reportOf({options.old_path, options.new_path}), options, output);
  };
  const auto was = loadDescription(options.old_path, options.analysis());
  if (!was) return refused(was.error());
  const auto now = loadDescription(options.new_path, options.analysis());
  if (!now) return refused(now.error());
  const Report report = reportOf({options.old_path, options.new_path}, judge(*was, *now, {options.without_types}));
  output.buffer() += printReport(report, options.style());
  return exitCodeOf(report);
}

}  // namespace tent::tool
