#include "tent-submit/run.h"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "base/units.h"
#include "common/interrupt.h"
#include "tent-submit/progress.h"
#include "tent-submit/wave_run.h"

namespace tent::tool {
namespace {

// What goes to one peer, wave after wave. Peers do not wait for each other, so that one that stands still keeps nothing
// from the rest. Thread safety: each belongs to one thread; they share the job, of which each has its own entries.
class PeerRun {
 public:
  PeerRun(Job& job, const WaveOptions& options, Progress& progress, std::vector<Planned> planned, uint64_t wave_bytes)
      : job_(job), options_(options), progress_(progress), cutter_(std::move(planned), wave_bytes) {}

  void run() {
    while (!interrupted() && !options_.clock->over() && !lost_) {
      std::vector<Item> items = cutter_.next();
      if (items.empty()) return;
      WaveRun wave(job_, options_, std::move(items));
      wave.run();
      for (size_t i = 0; i < wave.items().size(); ++i) {
        job_.entries[wave.items()[i].entry].execution->add(wave.outcomes()[i]);
        progress_.add(wave.outcomes()[i].report.status.transferred_bytes);
      }
      lost_ = wave.lostPeer();
      progress_.show();
    }
  }

  const std::optional<Error>& lost() const { return lost_; }

 private:
  Job& job_;
  const WaveOptions& options_;
  Progress& progress_;
  WaveCutter cutter_;
  std::optional<Error> lost_;
};

// The accepted entries by their peers, each peer's in the order in which they are run.
std::map<size_t, std::vector<Planned>> planOf(const Job& job) {
  std::map<size_t, std::vector<Planned>> by_peer;
  for (size_t i = 0; i < job.entries.size(); ++i) {
    const Entry& entry = job.entries[i];
    if (entry.verdict != Verdict::kAccepted) continue;
    const RequestFields& fields = entry.vector.fields;
    by_peer[*entry.peer].push_back(
        {i, entry.vector.repeat, entry.address, fields.length, fields.opcode == static_cast<int32_t>(Opcode::kWrite)});
  }
  for (auto& [peer, planned] : by_peer) {
    std::stable_sort(planned.begin(), planned.end(), [&job](const Planned& a, const Planned& b) {
      return job.entries[a.entry].priority < job.entries[b.entry].priority;
    });
  }
  return by_peer;
}

// What was left out is told so, with the reason.
void closeBooks(Job& job, const std::map<size_t, PeerRun>& runs, const RunClock& clock) {
  const bool stopped = interrupted();
  const Error because = errorOf(stopped ? Reason::kCanceled : Reason::kTimeout,
                                stopped ? "the run was interrupted" : "--timeout had passed");
  const ExecutionStatus why = stopped ? ExecutionStatus::kCanceled : ExecutionStatus::kTimeout;
  bool left_out = false;
  bool timed_out = false;
  for (Entry& entry : job.entries) {
    if (!entry.execution) continue;
    timed_out |= entry.execution->status == ExecutionStatus::kTimeout;
    if (entry.execution->repeats == entry.vector.repeat) continue;
    const std::optional<Error>& lost = runs.at(*entry.peer).lost();
    entry.execution->cutShort(lost ? ExecutionStatus::kFailed : why, lost ? *lost : because);
    left_out |= !lost;
  }
  if (stopped) {
    job.stopped = "interrupted";
  } else if (left_out || (timed_out && clock.over())) {
    job.stopped = fmt::format("not all had ended within {}", formatDuration(*job.options.timeout_ns));
  }
}

}  // namespace

void runJob(Job& job) {
  for (Entry& entry : job.entries) {
    if (entry.verdict == Verdict::kAccepted) entry.execution.emplace();
  }
  RunClock clock(job.options.timeout_ns);
  std::random_device random;
  const WaveOptions options{job.options.verify, uint64_t{random()} << 32 | random(), job.options.required, &clock};
  Progress progress(job);
  auto plan = planOf(job);
  const uint64_t wave_bytes = kWaveBytes / std::max<uint64_t>(1, plan.size());
  std::map<size_t, PeerRun> runs;
  for (auto& [peer, planned] : plan) runs.try_emplace(peer, job, options, progress, std::move(planned), wave_bytes);
  std::vector<std::thread> threads;
  for (auto& [peer, run] : runs) {
    // The last one's thread is this one.
    if (threads.size() + 1 < runs.size()) {
      threads.emplace_back([&its = run] { its.run(); });
    } else {
      run.run();
    }
  }
  for (std::thread& thread : threads) thread.join();
  progress.clear();
  closeBooks(job, runs, clock);
}

}  // namespace tent::tool
