#include "tent-submit/job.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "common/interrupt.h"
#include "common/vector_source.h"

namespace tent::tool {
namespace {

constexpr uint64_t kControlTimeoutNs = 5'000'000'000;

}  // namespace

ExplainContext contextOf(const Job& job, const Entry& entry) {
  return {job.config,
          entry.session->environment(entry.peer, entry.vector.target_registration),
          job.options.common.mode,
          job.options.common.tenant,
          entry.now_ns,
          0};
}

Result resultOf(const Job& job, const Entry& entry) {
  Result result = explain(entry.vector, job.header, contextOf(job, entry));
  Decision& decision = result.decision;
  if (!decision.error && entry.misplaced) {
    decision.error = entry.misplaced;
    decision.error.index = static_cast<int64_t>(entry.vector.index);
    decision.plan.reset();
  }
  return result;
}

bool readJob(Job& job) {
  const auto take = [&job](const Vector& vector, const VectorHeader& header) {
    job.header = header;
    Entry& entry = job.entries.emplace_back();
    entry.vector = vector;
    return true;
  };
  job.faults = readVectors(job.options.file, {false, job.options.common.quiet, true}, take, {}).faults;
  // A faulty file is not run at all, the good lines of it neither.
  if (job.faults > 0) job.entries.clear();
  return job.faults == 0;
}

std::string startSessions(Job& job) {
  const uint64_t timeout_ns = std::min(kControlTimeoutNs, job.options.timeout_ns.value_or(kControlTimeoutNs));
  for (Entry& entry : job.entries) {
    const PolicyName tenant = tenantOf(entry.vector, job.header, job.options.common.tenant, job.config);
    auto it = job.sessions.find(std::string(tenant.view()));
    if (it == job.sessions.end()) {
      auto started = Session::start(job.config, tenant, timeout_ns);
      if (!started)
        return fmt::format("the engine of tenant {} does not start: {}", tenant.view(), messageOf(started.error()));
      it = job.sessions.emplace(tenant.view(), *std::move(started)).first;
    }
    entry.session = it->second.get();
  }
  return "";
}

std::string connectPeers(Job& job) {
  bool described = false;  // by one session, as all see the same
  for (auto& [tenant, session] : job.sessions) {
    for (size_t i = 0; i < job.peers.size() && !interrupted(); ++i) {
      Peer& peer = job.peers[i];
      if (Error error = session->connect(peer.given.address)) {
        const bool nobody = error.reason == Reason::kPeerUnreachable && !peer.any_segment;
        return fmt::format("{}: {}{}", describe(peer), messageOf(error),
                           nobody ? "; does tent-submit --serve run there?" : "");
      }
      if (described) continue;
      auto info = session->engine().segmentInfo(session->segment(i));
      if (!info) return fmt::format("{}: {}", describe(peer), messageOf(info.error()));
      peer.info = *std::move(info);
      if (std::string conflict = nameConflict(peer); !conflict.empty()) return conflict;
    }
    described = true;
  }
  return "";
}

uint64_t neededBytes(Job& job, uint64_t limit) {
  uint64_t needed = 1;
  for (Entry& entry : job.entries) {
    entry.now_ns = monotonicNowNs();
    if (resultOf(job, entry).decision.error) continue;
    // An accepted range does not wrap.
    const uint64_t end = entry.vector.fields.target_offset + entry.vector.fields.length;
    if (end <= limit) needed = std::max(needed, end);
  }
  return needed;
}

}  // namespace tent::tool
