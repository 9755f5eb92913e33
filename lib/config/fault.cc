#include "config/fault.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace tent {

void FaultList::error(TextPosition position, std::string pointer, std::string message) {
  if (errors_++ >= kMaxFaults) return;
  insert({Severity::kError, position, std::move(pointer), std::move(message)});
}

void FaultList::warning(TextPosition position, std::string pointer, std::string message) {
  if (warnings_++ >= kMaxFaults) return;
  insert({Severity::kWarning, position, std::move(pointer), std::move(message)});
}

void FaultList::insert(Fault fault) {
  if (fault.pointer.size() > kMaxTextBytes) fault.pointer = shorten(fault.pointer, kMaxTextBytes);
  if (fault.message.size() > kMaxTextBytes) fault.message = shorten(fault.message, kMaxTextBytes);
  const auto after =
      std::upper_bound(faults_.begin(), faults_.end(), fault.position,
                       [](TextPosition position, const Fault& other) { return position < other.position; });
  faults_.insert(after, std::move(fault));
}

std::string FaultList::format(const Fault& fault) const {
  return fmt::format("{}:{}:{}: {}: {}{}", escapeForTerminal(file_), fault.position.line, fault.position.column,
                     fault.pointer.empty() ? "/" : escapeForTerminal(fault.pointer),
                     fault.severity == Severity::kWarning ? "warning: " : "", escapeForTerminal(fault.message));
}

std::string FaultList::firstError() const {
  const auto first = std::find_if(faults_.begin(), faults_.end(),
                                  [](const Fault& fault) { return fault.severity == Severity::kError; });
  if (first == faults_.end()) return "";
  return format(*first) + (errors_ == 1 ? "" : fmt::format(" (and {} more)", errors_ - 1));
}

std::string FaultList::format() const {
  std::string lines;
  for (const Fault& fault : faults_) lines.append(format(fault)).append("\n");
  if (const size_t left_out = errors_ + warnings_ - faults_.size(); left_out > 0) {
    lines += fmt::format("{}: {} more like these\n", escapeForTerminal(file_), left_out);
  }
  return lines;
}

}  // namespace tent
