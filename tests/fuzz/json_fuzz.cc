// Every JSON reader: any text is read, or refused with a fault that has a place.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/engine_config.h"
#include "config/environment_reader.h"
#include "config/json_value.h"
#include "config/vectors.h"
#include "report/explain.h"
#include "report/result_json.h"

namespace {

// What was read without a fault can be explained.
void explainAll(const tent::VectorFile& file) {
  using namespace tent;
  static const EngineConfig config;
  static const Environment environment = referenceEnvironment();
  static const Redactor redactor(Redaction::kStrict);
  const ExplainContext context{config, environment, {}, {}, {}, 1'000'000'000};
  for (const Vector& vector : file.vectors) {
    if (resultText(explain(vector, file.header, context), redactor).empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tent;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  FaultList faults("fuzz");
  const auto document = parseJson(text, faults);
  if (!document) {
    if (!faults.hasErrors()) std::abort();
    return 0;
  }
  switch (data[0] % 3) {
    case 0: static_cast<void>(readEngineConfig(*document, faults)); break;
    case 1: static_cast<void>(readEnvironment(*document, faults)); break;
    default: {
      const VectorFile file = readVectorFile(*document, faults, true);
      if (!faults.hasErrors()) explainAll(file);
    }
  }
  static_cast<void>(faults.format());
  return 0;
}
