// A backend for tests of the engine, and for machines without NICs: it really moves bytes between processes of one
// machine, as simply as can be (one Unix socket and one thread a link, one transfer at a time, in order), under the
// name that it is given, and lets a script decide the fate of each transfer.
//
// A failed write of which bytes were sent is unsettled, since they may lie in the peer's socket; every other failure is
// settled or untouched, unless the script says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transport/backend.h"
#include "transport/fake/fake_script.h"

namespace tent {

struct FakeOptions {
  std::string name = "fake";  // "rdma": plays that
  bool one_machine = false;   // what it says of itself
  uint32_t queue_transfers = 256;
  uint64_t queue_bytes = 64u << 20;
  // A peer that takes or gives nothing for so long is lost.
  uint64_t stall_timeout_ns = 2'000'000'000;
  std::shared_ptr<FakeScript> script;  // nullptr: everything completes
};

// io_error when its socket cannot be made.
tl::expected<std::unique_ptr<Backend>, Error> makeFakeBackend(const FakeOptions& options);

}  // namespace tent
