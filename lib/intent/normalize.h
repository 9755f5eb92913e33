// The one validation of requests. C, C++, pybind and high-level Python carry values here and results back; none decides
// anything itself (RFC "Goals": equivalent behaviour across interfaces).
//
// Pure: the time is an argument, nothing is read or written elsewhere, and nothing is allocated unless a malformed
// policy name has to be reported.
#pragma once

#include <cstdint>

#include <tl/expected.hpp>

#include "base/error.h"
#include "intent/request.h"

namespace tent {

// Farthest deadline from now that is taken for a monotonic time of this host: 30 days, in nanoseconds.
inline constexpr uint64_t kDeadlineHorizonNs = 2'592'000'000'000'000;

// Checks one request in the order of steps 3 to 5 (reserved fields and flags; opcode, source, length, range; intent
// type, priority, deadline, policy name, transport hint) and fills `out`. The first failure is the result: an error
// whose `index` is left -1, with `out.normalized` saying how far `out` is valid. On success the error's reason is
// kNone. `trusted_internal` is true only for TENT's own staging hops, which may carry staging_internal. `now_ns`:
// CLOCK_MONOTONIC.
Error normalizeRequest(const RequestFields& fields, ValidationMode mode, uint64_t now_ns, RequestedIntent& out,
                       bool trusted_internal = false);

// now + budget as an absolute deadline. kDeadlineOverflow when the sum exceeds UINT64_MAX (tested first),
// kDeadlineOutOfRange when the budget exceeds kDeadlineHorizonNs. A budget of 0 gives now, which is expired, never
// "none".
tl::expected<uint64_t, Reason> deadlineAfter(uint64_t now_ns, uint64_t budget_ns);

}  // namespace tent
