#include "tent-submit/run.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/units.h"
#include "common/interrupt.h"
#include "tent-submit/progress.h"
#include "tent-submit/wave_run.h"

namespace tent::tool {
namespace {

// The accepted entries in the order in which they are run.
std::vector<Planned> planOf(const Job& job) {
  std::vector<Planned> planned;
  for (size_t i = 0; i < job.entries.size(); ++i) {
    const Entry& entry = job.entries[i];
    if (entry.verdict != Verdict::kAccepted) continue;
    const RequestFields& fields = entry.vector.fields;
    planned.push_back(
        {i, entry.vector.repeat, entry.address, fields.length, fields.opcode == static_cast<int32_t>(Opcode::kWrite)});
  }
  std::stable_sort(planned.begin(), planned.end(), [&job](const Planned& a, const Planned& b) {
    return job.entries[a.entry].priority < job.entries[b.entry].priority;
  });
  return planned;
}

class Runner {
 public:
  explicit Runner(Job& job) : job_(job), cutter_(planOf(job)), progress_(job) {
    std::random_device random;
    options_.seed = uint64_t{random()} << 32 | random();
    options_.verify = job.options.verify;
    options_.required = job.options.required;
    options_.timeout_ns = job.options.timeout_ns;
    for (Entry& entry : job.entries) {
      if (entry.verdict == Verdict::kAccepted) entry.execution.emplace();
    }
  }

  void run() {
    const auto skip = [this](size_t entry) { return lost_peers_.contains(*job_.entries[entry].peer); };
    while (!stopped()) {
      std::vector<Item> items = cutter_.next(skip);
      if (items.empty()) break;
      WaveRun wave(job_, options_, std::move(items));
      wave.run();
      for (size_t i = 0; i < wave.items().size(); ++i) {
        job_.entries[wave.items()[i].entry].execution->add(wave.outcomes()[i]);
        progress_.add(wave.outcomes()[i].report.status.transferred_bytes);
      }
      lost_peers_.insert(wave.lostPeers().begin(), wave.lostPeers().end());
      progress_.show();
    }
    progress_.clear();
    closeBooks();
  }

 private:
  bool stopped() {
    const bool over = options_.deadline_ns && monotonicNowNs() >= *options_.deadline_ns;
    if (!interrupted() && !over) return false;
    why_ = interrupted() ? ExecutionStatus::kCanceled : ExecutionStatus::kTimeout;
    because_ = errorOf(interrupted() ? Reason::kCanceled : Reason::kTimeout,
                       interrupted() ? "the run was interrupted" : "--timeout had passed");
    return true;
  }

  // What was left out is told so, with the reason.
  void closeBooks() {
    bool left_out = false;
    for (Entry& entry : job_.entries) {
      if (!entry.execution || entry.execution->repeats == entry.vector.repeat) continue;
      const auto lost = lost_peers_.find(*entry.peer);
      const bool peer_lost = lost != lost_peers_.end();
      entry.execution->cutShort(peer_lost ? ExecutionStatus::kFailed : why_, peer_lost ? lost->second : because_);
      left_out |= !peer_lost;
    }
    const bool timed_out = std::any_of(job_.entries.begin(), job_.entries.end(), [](const Entry& entry) {
      return entry.execution && entry.execution->status == ExecutionStatus::kTimeout;
    });
    if (interrupted()) {
      job_.stopped = "interrupted";
    } else if (left_out || (timed_out && options_.deadline_ns && monotonicNowNs() >= *options_.deadline_ns)) {
      job_.stopped = fmt::format("not all had ended within {}", formatDuration(*job_.options.timeout_ns));
    }
  }

  Job& job_;
  WaveCutter cutter_;
  Progress progress_;
  WaveOptions options_;
  std::map<size_t, Error> lost_peers_;
  ExecutionStatus why_ = ExecutionStatus::kCanceled;
  Error because_;
};

}  // namespace

void runJob(Job& job) {
  Runner(job).run();
}

}  // namespace tent::tool
