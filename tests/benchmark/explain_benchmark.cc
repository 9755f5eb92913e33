// What explaining a stream costs on one core, step by step: each benchmark does what the one before does and one step
// more, so that the rate of the whole stands beside the rate of parsing alone, measured in the same run.
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "config/engine_config.h"
#include "config/input.h"
#include "config/vectors.h"
#include "intent/normalize.h"
#include "report/explain.h"
#include "report/result_json.h"

namespace tent {
namespace {

constexpr std::string_view kLine =
    R"({"name":"kv-17","request":{"opcode":"read","length":"4MiB","target":{"segment":"node-b","offset":8388608},)"
    R"("intent_type":"foreground_get","requested_priority":"high","deadline_budget":"5ms","transport_hint":"tcp"}})";

JsonValue parsed(std::string_view text) {
  FaultList faults("text");
  auto value = parseJson(text, faults);
  if (!value || faults.hasErrors()) std::abort();
  return std::move(*value);
}

const EngineConfig& corpusConfig() {
  static const EngineConfig config = [] {
    FaultList faults("config");
    const auto text = Input::open(TENT_CORPUS "/workloads/config.json").value().readAll(kMaxDocumentBytes).value();
    EngineConfig read = readEngineConfig(parsed(text), faults);
    if (faults.hasErrors()) std::abort();
    return read;
  }();
  return config;
}

Vector vectorOf(const JsonValue& value) {
  FaultList faults("line");
  return readVector(value, "", faults, true).value();
}

void parseLine(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parsed(kLine));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(parseLine);

void parseAndReadVector(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(vectorOf(parsed(kLine)));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(parseAndReadVector);

void explainLine(benchmark::State& state) {
  const Environment environment = referenceEnvironment();
  const ExplainContext context{corpusConfig(), environment, {}, {}, 1'000'000'000, 0};
  const Redactor redactor(Redaction::kDefault);
  std::string out;
  for (auto _ : state) {
    const Vector vector = vectorOf(parsed(kLine));
    out.clear();
    JsonWriter json(out);
    writeResult(json, explain(vector, {}, context), redactor);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(explainLine);

// Without any JSON: what a request costs in a program.
void normalizeAndResolve(benchmark::State& state) {
  const EngineConfig& config = corpusConfig();
  RequestFields fields;
  fields.length = 4096;
  fields.intent_type = 1;
  TransferShape shape;
  shape.length = fields.length;
  TransportSet built;
  for (Transport transport : {Transport::kShm, Transport::kTcp, Transport::kRdma}) built.add(transport);
  const Tenant tenant(PolicyName("llm-serving"), config.policies);
  for (auto _ : state) {
    RequestedIntent requested;
    EffectivePolicy effective;
    benchmark::DoNotOptimize(normalizeRequest(fields, ValidationMode::kStrict, 1, requested));
    benchmark::DoNotOptimize(
        resolve(requested, shape, tenant, config.policies, built, ValidationMode::kStrict, effective));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(normalizeAndResolve);

}  // namespace
}  // namespace tent
