// Compares each result with what its vector expects, and prints only where they differ.
#include <fmt/format.h>

#include "report/result_json.h"
#include "tent-explain/difference_list.h"

namespace tent::tool {
namespace {

constexpr SideNames kCheckSides{"expected", "got", "expected", "actual"};

class CheckSink : public ResultSink {
 public:
  explicit CheckSink(const SinkContext& context) : context_(context), json_(context.output.buffer()) {}

  void begin() override {
    if (context_.options.format == OutputFormat::kJson) beginJsonFile(json_, "mismatches");
  }

  void take(const std::string& file, const Vector& vector, const VectorHeader& header) override {
    const Result result = explain(vector, header, context_.explain);
    ++count_;
    // What a vector expects is compared with what was decided, not with what may be shown of it.
    FaultList faults("result");
    const auto actual = parseJson(resultText(result, unredacted_), faults);
    JsonValue expect_ok;
    expect_ok.kind = JsonValue::Kind::kObject;
    const auto differences = unmetExpectations(vector.expect ? *vector.expect : expect_ok, actual.value());
    if (differences.empty()) return;
    ++unmet_;
    printDifferences(context_, json_, file, vector, differences, kCheckSides,
                     context_.redactor.level() != Redaction::kStrict);
  }

  void end(const RunEnd& run) override {
    const Count counts[] = {{"vectors", count_}, {"met", count_ - unmet_}, {"unmet", unmet_}};
    endOutput(context_, json_, fmt::format("{} of {} vectors met", count_ - unmet_, count_), counts, {}, run);
  }

  bool satisfied() const override { return unmet_ == 0; }

 private:
  SinkContext context_;
  JsonWriter json_;
  const Redactor unredacted_{Redaction::kNone};
  size_t count_ = 0;
  size_t unmet_ = 0;
};

}  // namespace

std::unique_ptr<ResultSink> makeCheckSink(const SinkContext& context) {
  return std::make_unique<CheckSink>(context);
}

}  // namespace tent::tool
