#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

constexpr int kRounds = 300;
constexpr uint32_t kSeed = 20260822;

// Texts of which a reader must say that they are good, or what is wrong with them.
void checkReading(const std::string& text) {
  FaultList syntax("mutated");
  const std::optional<JsonValue> document = parseJson(text, syntax);
  CHECK((document || syntax.hasErrors()));
  if (!document) return;

  FaultList config_faults("mutated");
  readEngineConfig(*document, config_faults);
  FaultList environment_faults("mutated");
  readEnvironment(*document, environment_faults);
  FaultList vector_faults("mutated");
  const VectorFile file = readVectorFile(*document, vector_faults, false);
  const JsonValue* vectors = document->find("vectors");
  if (vectors && !vector_faults.hasErrors()) CHECK(file.vectors.size() == vectors->items.size());
  if (vectors && file.vectors.size() < vectors->items.size()) CHECK(vector_faults.hasErrors());
}

struct Mutator {
  std::mt19937 random{kSeed};

  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); }

  // A place from which a value or a key may begin.
  size_t place(const std::string& text) {
    const size_t start = below(text.size());
    const size_t found = text.find_first_of("\"{[0123456789tfn", start);
    return found == std::string::npos ? start : found;
  }

  void replaceToken(std::string& text) {
    static constexpr std::string_view kValues[] = {"null",     "true",      "-1", "1.0", "18446744073709551615",
                                                   "\"\"",     "[]",        "{}", "\"x", "1e999",
                                                   "\"4KiB\"", "\"cuda:0\""};
    const size_t begin = place(text);
    const size_t end = std::min(text.find_first_of(",:}]\n", begin + 1), text.size());
    text.replace(begin, end - begin, kValues[below(std::size(kValues))]);
  }

  void renameKey(std::string& text) {
    const size_t quote = text.find("\":", below(text.size()));
    if (quote != std::string::npos && quote > 0) text[quote - 1] = static_cast<char>('a' + below(26));
  }

  void copyPart(std::string& text) {
    const size_t begin = place(text);
    const std::string part = text.substr(begin, below(40) + 1);
    text.insert(place(text), part);
  }

  std::string mutate(std::string text) {
    for (size_t edits = below(3) + 1; edits > 0 && !text.empty(); --edits) {
      switch (below(5)) {
        case 0: replaceToken(text); break;
        case 1: renameKey(text); break;
        case 2: copyPart(text); break;
        case 3: text.erase(below(text.size()), below(20) + 1); break;
        default: text[below(text.size())] = static_cast<char>(below(256)); break;
      }
    }
    return text;
  }
};

}  // namespace

TEST_CASE("whatever becomes of a file, reading it ends with a value or with faults") {
  Mutator mutator;
  for (const char* folder : {TENT_CORPUS "/configs", TENT_CORPUS "/malformed"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      const std::string text = contentOf(entry.path().string());
      for (int round = 0; round < kRounds; ++round) checkReading(mutator.mutate(text));
    }
  }
}

TEST_CASE("a vector with one field replaced by anything is read or refused") {
  const std::string text = R"({"name": "a", "surface": "v1", "mode": "strict", "tenant": "t", "repeat": 2,
    "request": {"opcode": "read", "length": "4MiB", "source": {"memory": "cpu"}, "target": {"segment": "b"},
                "intent_type": "migration", "requested_priority": "high", "deadline_budget": "5ms", "flags": 0},
    "layout": {"struct_size": 96, "tail": "00"}, "expect": {"status": "ok", "effective": {"devices": []}}})";
  Mutator mutator;
  size_t read = 0;
  size_t refused = 0;
  for (int round = 0; round < 20 * kRounds; ++round) {
    std::string mutated = text;
    mutator.replaceToken(mutated);
    const auto reading = readLine(mutated);
    CHECK(reading.value.has_value() != reading.faults.hasErrors());
    reading.value ? ++read : ++refused;
  }
  CHECK(read > 0);
  CHECK(refused > 0);
}
