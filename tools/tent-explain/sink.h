// Where the results of a run go: one sink for each thing that tent-explain does with vectors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/json_file.h"
#include "common/options.h"
#include "common/output.h"
#include "config/vectors.h"
#include "report/explain.h"
#include "report/json_writer.h"
#include "report/redact.h"
#include "report/result_text.h"

namespace tent::tool {

// What a sink needs of the run; all of it outlives the sink.
struct SinkContext {
  const ExplainContext& explain;
  const Redactor& redactor;
  const CommonOptions& options;
  Output& output;
  bool reference_host;  // no environment was given
};

class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual void begin() = 0;
  virtual void take(const std::string& file, const Vector& vector, const VectorHeader& header) = 0;
  // Completes the output, valid whatever happened before.
  virtual void end(const RunEnd& run) = 0;
  // Whether the answer is yes: all accepted, all met, nothing changed.
  virtual bool satisfied() const = 0;
};

std::unique_ptr<ResultSink> makeExplainSink(const SinkContext& context);
std::unique_ptr<ResultSink> makeCheckSink(const SinkContext& context);
// `other`: the configuration to compare with.
std::unique_ptr<ResultSink> makeDiffSink(const SinkContext& context, const EngineConfig& other);

// The start of a JSON output, up to the array named `list`.
void beginJsonFile(JsonWriter& json, std::string_view list);
// The end of the output in each format: in JSON the counts as a summary, in text `headline` with how the run ended.
void endOutput(const SinkContext& context, JsonWriter& json, const std::string& headline, std::span<const Count> counts,
               std::span<const Count> by_status, const RunEnd& run);

}  // namespace tent::tool
