#include "tent-abi-check/run_behaviour.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "common/exit_code.h"
#include "tent-abi-check/behaviour.h"
#include "tent-abi-check/child.h"

namespace tent::tool {
namespace {

std::vector<BehaviourCheck> allChecks() {
  std::vector<BehaviourCheck> all;
  for (const auto& checks :
       {symbolChecks(), entryChecks(), valueChecks(), callChecks(), legacyChecks(), notificationChecks()}) {
    all.insert(all.end(), checks.begin(), checks.end());
  }
  return all;
}

// The functions of the API that the library does not export; "" none is missing.
std::string missingOf(const ElfFile& library, Needs needs) {
  std::string missing;
  const auto look = [&](const char* name) {
    if (missing.empty() && findNamed(library.symbols, name) == nullptr) missing = name;
  };
#define X(name) look(#name);
  if (needs != Needs::kNothing) {
    TENT_LEGACY_FUNCTIONS(X)
  }
  if (needs == Needs::kV1) {
    TENT_V1_FUNCTIONS(X)
  }
#undef X
  return missing;
}

Check skip(const BehaviourCheck& check, std::string why) {
  return {check.name, Outcome::kSkip, std::move(why), 0, std::nullopt, true};
}

constexpr std::array kOutcomes{Outcome::kPass, Outcome::kWarn, Outcome::kFail, Outcome::kSkip};

// "PASS\treason\n", as the child printed it.
bool readOutcome(const std::string& output, Check& check) {
  const size_t tab = output.find('\t');
  if (tab == std::string::npos || !output.ends_with('\n')) return false;
  const auto* const found = std::find_if(kOutcomes.begin(), kOutcomes.end(), [&](Outcome one) {
    return nameOf(one) == std::string_view(output).substr(0, tab);
  });
  if (found == kOutcomes.end()) return false;
  check.outcome = *found;
  check.reason = output.substr(tab + 1, output.size() - tab - 2);
  return true;
}

Check runOne(const BehaviourCheck& one, const ElfFile& library, const BehaviourOptions& options, bool& interrupted) {
  ChildCall call{{ownProgram(), kCheckCommand, one.name, loadablePath(library)}, {}, options.timeout_ns};
  if (const std::string runtimes = sanitizerRuntimes(library); !runtimes.empty()) {
    call.environment.emplace_back("LD_PRELOAD", runtimes);
  }
  const uint64_t began_ns = monotonicNowNs();
  const ChildEnd end = runChild(call);
  Check check{one.name, Outcome::kFail, "", static_cast<double>(monotonicNowNs() - began_ns) / 1e9, std::nullopt, true};
  interrupted = end.how == ChildEnd::How::kInterrupted;
  if (end.exitedWith(kExitOk) && readOutcome(end.output, check)) return check;
  check.outcome = Outcome::kFail;
  check.reason = describe(end, options.timeout_ns);
  if (const std::string last = lastLine(end.errors); !last.empty()) check.reason += ": " + last;
  // It got an answer before: the library fails when its process ends.
  if (Check before = check; readOutcome(end.output, before)) check.reason += "; until then: " + before.reason;
  return check;
}

std::string runGuarded(const BehaviourCheck& check, const Api& api, Outcome& outcome) {
  try {
    outcome = Outcome::kPass;
    return check.run(api);
  } catch (const Skipped& skipped) {
    outcome = Outcome::kSkip;
    return skipped.what();
  } catch (const Dubious& dubious) {
    outcome = Outcome::kWarn;
    return dubious.what();
  } catch (const std::exception& unmet) {
    outcome = Outcome::kFail;
    return unmet.what();
  }
}

}  // namespace

void runBehaviour(const ElfFile& library, const BehaviourOptions& options, Report& report) {
  const std::string no_legacy = missingOf(library, Needs::kLegacy);
  const std::string no_v1 = missingOf(library, Needs::kV1);
  for (const BehaviourCheck& check : allChecks()) {
    const bool of_v1 = check.needs == Needs::kV1 || std::string_view(check.name) == "symbols.v1";
    const std::string& missing = check.needs == Needs::kV1 ? no_v1 : no_legacy;
    if (of_v1 && options.legacy_only) {
      report.checks.push_back(skip(check, "v1 was not asked for (--legacy)"));
    } else if (check.needs != Needs::kNothing && !missing.empty()) {
      report.checks.push_back(skip(check, fmt::format("the library has no {}", missing)));
    } else {
      Check done = runOne(check, library, options, report.interrupted);
      if (report.interrupted) return;
      report.checks.push_back(std::move(done));
    }
  }
}

int checkLibrary(const std::string& name, const std::string& path) {
  const std::vector<BehaviourCheck> all = allChecks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const BehaviourCheck& one) { return one.name == name; });
  if (found == all.end()) return kExitUsage;
  // What the library itself prints must not be taken for the outcome.
  const int answer = dup(STDOUT_FILENO);
  if (answer < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kExitEnvironment;
  const Api api = loadApi(path);
  Outcome outcome = Outcome::kFail;
  std::string reason = api.error.empty() ? runGuarded(*found, api, outcome) : "cannot be loaded: " + api.error;
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  const std::string line = fmt::format("{}\t{}\n", nameOf(outcome), reason);
  return write(answer, line.data(), line.size()) == static_cast<ssize_t>(line.size()) ? kExitOk : kExitEnvironment;
}

}  // namespace tent::tool
