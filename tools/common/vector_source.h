// Vectors as the tools take them in: from documents, or from NDJSON in constant memory, each fault printed with its
// place.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/input.h"
#include "config/vectors.h"

namespace tent::tool {

struct VectorSourceOptions {
  bool clock_pinned = false;  // --now is given
  bool quiet = false;         // no warnings
  bool runs_now = false;      // a file whose header pins the clock is refused
};

struct VectorSourceOutcome {
  size_t vectors = 0;
  size_t faults = 0;  // errors that were printed; a document with one gives no vectors at all
};

using TakeVector = std::function<bool(const Vector&, const VectorHeader&)>;

// Reads `path` ("-" is standard input) and calls `take` with each vector in order and the file's header; `take` returns
// false to stop. `before_wait` is called before each read that may block. Stops early when the process is interrupted.
VectorSourceOutcome readVectors(const std::string& path, const VectorSourceOptions& options, const TakeVector& take,
                                const std::function<void()>& before_wait);

// The same for an input that is open.
VectorSourceOutcome readVectors(Input input, const VectorSourceOptions& options, const TakeVector& take);

}  // namespace tent::tool
