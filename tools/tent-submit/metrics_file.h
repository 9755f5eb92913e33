// Engine metrics in the Prometheus text format. All labels come from fixed sets, so a scrape stays small whatever the
// requests held. Thread safety: pure functions, and one that writes a file.
#pragma once

#include <string>

#include "engine/engine.h"

namespace tent::tool {

// Adds what `other` counted.
void addMetrics(EngineMetrics& sum, const EngineMetrics& other);

std::string prometheusText(const EngineMetrics& metrics);

// What is in the way of writing there, seen before anything is run: a folder that is missing, a FIFO that nobody reads,
// standard output itself. "" nothing.
std::string checkMetricsFile(const std::string& path);

// Writes `text` so that a reader sees the old content or the new one, never a part; what is no regular file (a pipe, a
// device) is written to as it is. The result says what went wrong, "" nothing.
std::string writeMetricsFile(const std::string& path, const std::string& text);

}  // namespace tent::tool
