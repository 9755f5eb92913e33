#include "tent-submit/progress.h"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"

namespace tent::tool {
namespace {

constexpr uint64_t kIntervalNs = 200'000'000;

}  // namespace

Progress::Progress(const Job& job) : enabled_(!job.options.common.quiet && isatty(STDERR_FILENO) == 1) {
  for (const Entry& entry : job.entries) {
    if (entry.verdict == Verdict::kAccepted) total_ += entry.vector.repeat;
  }
}

void Progress::add(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  ++transfers_;
  bytes_ += bytes;
}

void Progress::show() {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  const uint64_t now_ns = monotonicNowNs();
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + kIntervalNs;
  fmt::print(stderr, "\r{} of {} transfers, {} MiB\x1b[K", transfers_, total_, bytes_ >> 20);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace tent::tool
