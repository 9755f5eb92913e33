#include "tent-submit/submit.h"

#include <cstdio>

#include <unistd.h>

#include "common/exit_code.h"
#include "common/interrupt.h"
#include "report/redact.h"
#include "tent-submit/judge.h"
#include "tent-submit/metrics_file.h"
#include "tent-submit/own_target.h"
#include "tent-submit/report.h"
#include "tent-submit/run.h"

namespace tent::tool {
namespace {

// One of eight parts of this machine's memory: the target has two such buffers, and the source as much again.
uint64_t largestOwnBuffer() {
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) / 8 : 1u << 30;
}

int stop(Job& job, int exit_code, std::string why) {
  job.stopped = std::move(why);
  std::fprintf(stderr, "tent-submit: %s\n", job.stopped.c_str());
  return exit_code;
}

// The peers of the command line, or a target of our own.
std::string findPeers(Job& job, std::optional<OwnTarget>& own_target) {
  for (const PeerAddress& given : job.options.peers) job.peers.push_back({given, false, {}});
  if (!job.peers.empty()) return "";
  auto started = OwnTarget::start(neededBytes(job, largestOwnBuffer()), job.config);
  if (!started) return started.error();
  own_target.emplace(*std::move(started));
  job.peers.push_back({{"", own_target->address()}, true, {}});
  return "";
}

// Everything up to the report.
int carryOut(Job& job) {
  const auto was_interrupted = [&job] {
    job.stopped = "interrupted";
    return kExitInterrupted;
  };
  const bool good = readJob(job);
  if (interrupted()) return was_interrupted();
  if (!good) return job.stopped = "the file has faults", kExitInput;
  if (job.entries.empty()) return kExitOk;

  std::optional<OwnTarget> own_target;
  std::string trouble = startSessions(job);
  if (trouble.empty()) trouble = findPeers(job, own_target);
  if (trouble.empty()) trouble = connectPeers(job);
  if (interrupted()) return was_interrupted();
  if (!trouble.empty()) return stop(job, kExitEnvironment, trouble);

  judge(job);
  if (interrupted()) return was_interrupted();
  if (const std::string objection = objectionTo(job); !objection.empty()) {
    return stop(job, kExitNo, objection + "; nothing is run");
  }
  if (job.options.dry_run) return kExitOk;
  runJob(job);
  // The engines before the target, so that they do not take its end for a failure.
  for (auto& [tenant, session] : job.sessions) session->end();
  if (interrupted()) return kExitInterrupted;
  return tallyOf(job).allCompleted() ? kExitOk : kExitNo;
}

std::string writeMetrics(const Job& job) {
  EngineMetrics sum;
  for (const auto& [tenant, session] : job.sessions) addMetrics(sum, session->metrics());
  return writeMetricsFile(job.options.metrics_path, prometheusText(sum));
}

}  // namespace

int submitFile(const Options& options, std::optional<EngineConfig> config, Output& output) {
  Job job(options);
  int exit_code = kExitInput;
  const std::string no_metrics = options.metrics_path.empty() ? "" : checkMetricsFile(options.metrics_path);
  if (!config) {
    job.stopped = "the configuration cannot be used";
  } else if (!no_metrics.empty()) {
    exit_code = stop(job, kExitEnvironment, no_metrics);
  } else {
    job.config = *std::move(config);
    exit_code = carryOut(job);
  }
  if (!options.metrics_path.empty() && no_metrics.empty()) {
    if (const std::string error = writeMetrics(job); !error.empty()) {
      std::fprintf(stderr, "tent-submit: %s\n", error.c_str());
      exit_code = kExitEnvironment;
    }
  }
  writeReport(job, Redactor(Redaction::kDefault), output);
  return exit_code;
}

}  // namespace tent::tool
