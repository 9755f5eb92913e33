// Prints what was decided about each vector.
#include <functional>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "report/result_json.h"
#include "tent-explain/sink.h"

namespace tent::tool {
namespace {

class ExplainSink : public ResultSink {
 public:
  explicit ExplainSink(const SinkContext& context) : context_(context), json_(context.output.buffer()) {}

  void begin() override {
    if (context_.options.format == OutputFormat::kJson) beginJsonFile(json_, "results");
    if (context_.options.format == OutputFormat::kText && context_.reference_host && !context_.options.quiet) {
      context_.output.buffer() +=
          "Planned for the fixed reference host: a peer on the same machine; shm, tcp and rdma built; no NIC.\n"
          "Use --probe for this machine, --env FILE for a saved one.\n\n";
    }
  }

  void take(const std::string&, const Vector& vector, const VectorHeader& header) override {
    const Result result = explain(vector, header, context_.explain);
    ++count_;
    ++by_status_[codeOf(categoryOf(result.decision.error.reason))];
    std::string& out = context_.output.buffer();
    switch (context_.options.format) {
      case OutputFormat::kText: {
        const TextStyle style{context_.options.color, context_.options.verbose};
        appendText(out, result, context_.explain, context_.redactor, style);
        out += '\n';
        break;
      }
      case OutputFormat::kJson:
        json_.breakLine();
        writeResult(json_, result, context_.redactor);
        break;
      case OutputFormat::kNdjson: {
        JsonWriter line(out);
        writeResult(line, result, context_.redactor);
        out += '\n';
        break;
      }
    }
    context_.output.flushIfLarge();
  }

  void end(const RunEnd& run) override {
    const size_t ok = okCount();
    std::string headline = fmt::format("{} vectors: {} ok, {} rejected", count_, ok, count_ - ok);
    std::vector<Count> by_status;
    for (const auto& [code, number] : by_status_) {
      by_status.push_back({nameOf(Category{code}), number});
      if (code != 0) headline += fmt::format(", {} {}", number, by_status.back().name);
    }
    const Count counts[] = {{"vectors", count_}, {"ok", ok}, {"rejected", count_ - ok}};
    endOutput(context_, json_, headline, counts, by_status, run);
  }

  bool satisfied() const override { return okCount() == count_; }

 private:
  size_t okCount() const {
    const auto it = by_status_.find(0);
    return it == by_status_.end() ? 0 : it->second;
  }

  SinkContext context_;
  JsonWriter json_;
  size_t count_ = 0;
  std::map<int32_t, size_t, std::greater<>> by_status_;  // by code, ok first
};

}  // namespace

std::unique_ptr<ResultSink> makeExplainSink(const SinkContext& context) {
  return std::make_unique<ExplainSink>(context);
}

}  // namespace tent::tool
