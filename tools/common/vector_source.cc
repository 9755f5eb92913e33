#include "common/vector_source.h"

#include "common/interrupt.h"
#include "common/load.h"

namespace tent::tool {
namespace {

VectorSourceOutcome readDocument(Input& input, const VectorSourceOptions& options, const TakeVector& take) {
  FaultList faults(input.name());
  VectorFile file;
  const auto text = input.readAll(kMaxDocumentBytes);
  if (interrupted()) return {};  // what there is of the text is no fault of the file
  if (!text) {
    faults.error({}, "", text.error());
  } else if (const auto document = parseJson(*text, faults)) {
    file = readVectorFile(*document, faults, options.clock_pinned);
    const JsonValue* clock = file.header.now_ns && options.runs_now ? document->find("clock") : nullptr;
    if (clock != nullptr) {
      faults.error(clock->position, "/clock",
                   "a pinned clock is for explaining, not for running: remove it, and give deadlines as budgets");
    }
  }
  printFaults(faults, options.quiet);
  VectorSourceOutcome outcome{0, faults.errorCount()};
  if (faults.hasErrors()) return outcome;
  for (const Vector& vector : file.vectors) {
    if (interrupted()) break;
    ++outcome.vectors;
    if (!take(vector, file.header)) break;
  }
  return outcome;
}

// A vector's line, or the faults that it has.
std::optional<Vector> readLine(std::string_view line, size_t line_number, size_t index, bool clock_pinned,
                               FaultList& faults) {
  const auto value = parseJson(line, faults, line_number);
  if (!value || faults.hasErrors()) return std::nullopt;
  return readVector(*value, "", faults, clock_pinned, index);
}

bool isBlank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

VectorSourceOutcome readLines(Input& input, const VectorSourceOptions& options, const TakeVector& take) {
  VectorSourceOutcome outcome;
  const VectorHeader header;
  size_t index = 0;
  while (!interrupted()) {
    const auto line = input.nextLine(kMaxLineBytes);
    if (interrupted() || (line && !*line)) break;
    if (line && isBlank(**line)) continue;
    FaultList faults(input.name());
    std::optional<Vector> vector;
    if (line) {
      vector = readLine(**line, input.lineNumber(), index, options.clock_pinned, faults);
    } else if (line.error() == Input::LineError::kLineTooLong) {
      faults.error({input.lineNumber(), kMaxLineBytes + 1}, "", "the line is longer than 1 MiB");
    } else {
      faults.error({input.lineNumber() + 1, 1}, "", input.readError());
    }
    ++index;
    printFaults(faults, options.quiet);
    outcome.faults += faults.errorCount();
    if (vector) {
      ++outcome.vectors;
      if (!take(*vector, header)) break;
    }
    if (!line && line.error() == Input::LineError::kReadFailed) break;
  }
  return outcome;
}

VectorSourceOutcome unreadable(const std::string& name, const std::string& error, bool quiet) {
  FaultList faults(name);
  if (!interrupted()) faults.error({}, "", error);
  printFaults(faults, quiet);
  return {0, faults.errorCount()};
}

}  // namespace

VectorSourceOutcome readVectors(const std::string& path, const VectorSourceOptions& options, const TakeVector& take,
                                const std::function<void()>& before_wait) {
  auto input = Input::open(path);
  if (!input) return unreadable(path, input.error(), options.quiet);
  input->beforeRead(before_wait);
  return readVectors(std::move(*input), options, take);
}

VectorSourceOutcome readVectors(Input input, const VectorSourceOptions& options, const TakeVector& take) {
  input.stopOn(interruptFd());
  const auto format = sniffVectorFormat(input);
  if (!format) return unreadable(input.name(), format.error(), options.quiet);
  return *format == VectorFormat::kNdjson ? readLines(input, options, take) : readDocument(input, options, take);
}

}  // namespace tent::tool
