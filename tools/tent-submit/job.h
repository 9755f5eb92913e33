// A file of vectors on its way: read, judged, carried out, reported. What the steps share; results are explained anew
// where they are needed, so that a vector takes little memory between them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/engine_config.h"
#include "config/vectors.h"
#include "report/explain.h"
#include "tent-submit/execution.h"
#include "tent-submit/options.h"
#include "tent-submit/peers.h"
#include "tent-submit/session.h"

namespace tent::tool {

enum class Verdict : uint8_t {
  kUnknown,             // not judged yet
  kAccepted,            // may run
  kRejectedAsExpected,  // the vector's `expect` names this rejection
  kRejected,
  kNotRejected,  // `expect` names a rejection, and there is none
};

struct Entry {
  Vector vector;
  Session* session = nullptr;  // its tenant's; the job's
  Verdict verdict = Verdict::kUnknown;
  std::optional<size_t> peer;  // absent: no peer is given for its segment
  uint64_t address = 0;        // where its range begins in the peer's memory
  Error misplaced;             // its target is not there, which only who knows the peers can tell
  uint64_t now_ns = 0;         // the time that its result is of: when it was judged, then when it was submitted
  ValidationMode mode = ValidationMode::kStrict;
  Priority priority = Priority::kHigh;
  Transport primary = Transport::kUnspec;
  std::optional<Execution> execution;  // absent: the run has not begun
};

struct Job {
  explicit Job(const Options& the_options) : options(the_options) {}

  const Options& options;
  EngineConfig config;
  VectorHeader header;
  std::vector<Entry> entries;
  size_t faults = 0;  // of the file
  std::vector<Peer> peers;
  std::map<std::string, std::unique_ptr<Session>> sessions;  // by tenant
  std::string stopped;  // why the run ended before its end, or did not begin; "" it did not
};

ExplainContext contextOf(const Job& job, const Entry& entry);
// As of entry.now_ns.
Result resultOf(const Job& job, const Entry& entry);

// Reads the job's file. False when it has a fault, which has then been printed.
bool readJob(Job& job);
// Starts the sessions that the vectors need. An error is a sentence.
std::string startSessions(Job& job);
// Connects every session with job.peers, and asks these about themselves. An error is a sentence.
std::string connectPeers(Job& job);
// How large the buffers of a target must be for all vectors that can be accepted, but for those that need more than
// `limit`: these will not find their range there.
uint64_t neededBytes(Job& job, uint64_t limit);

}  // namespace tent::tool
