#include "tent-abi-check/run_behaviour.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "common/exit_code.h"
#include "tent-abi-check/answer.h"
#include "tent-abi-check/behaviour.h"

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

// "PASS\treason", as the child said it.
bool readOutcome(const Answer& answer, Check& check) {
  if (!answer.text) return false;
  const std::string& text = *answer.text;
  const size_t tab = text.find('\t');
  if (tab == std::string::npos) return false;
  const auto* const found = std::find_if(kOutcomes.begin(), kOutcomes.end(), [&](Outcome one) {
    return nameOf(one) == std::string_view(text).substr(0, tab);
  });
  if (found == kOutcomes.end()) return false;
  check.outcome = *found;
  check.reason = text.substr(tab + 1);
  return true;
}

Check runOne(const BehaviourCheck& one, const ElfFile& library, const BehaviourOptions& options, bool& interrupted) {
  const uint64_t began_ns = monotonicNowNs();
  const Answer answer = ask({kCheckCommand, one.name, loadablePath(library)}, library, options.timeout_ns);
  Check check{one.name, Outcome::kFail, "", static_cast<double>(monotonicNowNs() - began_ns) / 1e9, std::nullopt, true};
  interrupted = answer.end.how == ChildEnd::How::kInterrupted;
  if (answer.isWhole() && readOutcome(answer, check)) return check;
  check.outcome = Outcome::kFail;
  check.reason = describe(answer, options.timeout_ns);
  // It got an answer before: the library fails when its process ends.
  if (Check before = check; readOutcome(answer, before)) check.reason += "; until then: " + before.reason;
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
  const AnswerChannel channel;
  if (!channel) return kExitEnvironment;
  const Api api = loadApi(path);
  Outcome outcome = Outcome::kFail;
  std::string reason = api.error.empty() ? runGuarded(*found, api, outcome) : "cannot be loaded: " + api.error;
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  return channel.say(fmt::format("{}\t{}", nameOf(outcome), reason));
}

}  // namespace tent::tool
