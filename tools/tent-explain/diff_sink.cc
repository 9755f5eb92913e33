// Decides each vector under two configurations and prints where the results differ.
#include <fmt/format.h>

#include "report/result_json.h"
#include "tent-explain/difference_list.h"

namespace tent::tool {
namespace {

constexpr SideNames kDiffSides{"now", "then", "before", "after"};

class DiffSink : public ResultSink {
 public:
  DiffSink(const SinkContext& context, const EngineConfig& other)
      : context_(context),
        json_(context.output.buffer()),
        other_{other,
               context.explain.environment,
               context.explain.option_mode,
               context.explain.option_tenant,
               context.explain.option_now_ns,
               context.explain.live_now_ns} {}

  void begin() override {
    if (context_.options.format == OutputFormat::kJson) beginJsonFile(json_, "changes");
  }

  void take(const std::string& file, const Vector& vector, const VectorHeader& header) override {
    ++count_;
    FaultList faults("result");
    const auto before = parseJson(resultText(explain(vector, header, context_.explain), context_.redactor), faults);
    const auto after = parseJson(resultText(explain(vector, header, other_), context_.redactor), faults);
    const auto differences = differencesOf(before.value(), after.value());
    if (differences.empty()) return;
    ++changed_;
    printDifferences(context_, json_, file, vector, differences, kDiffSides, true);
  }

  void end(const RunEnd& run) override {
    const Count counts[] = {{"vectors", count_}, {"changed", changed_}};
    endOutput(context_, json_, fmt::format("{} of {} vectors would change", changed_, count_), counts, {}, run);
  }

  bool satisfied() const override { return changed_ == 0; }

 private:
  SinkContext context_;
  JsonWriter json_;
  ExplainContext other_;
  size_t count_ = 0;
  size_t changed_ = 0;
};

}  // namespace

std::unique_ptr<ResultSink> makeDiffSink(const SinkContext& context, const EngineConfig& other) {
  return std::make_unique<DiffSink>(context, other);
}

}  // namespace tent::tool
