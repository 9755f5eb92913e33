// The result of one vector as text that a person reads at a glance: requested -> effective -> plan, each effective
// value with the rule that set it, each candidate that is not used with its reason.
#pragma once

#include <string>

#include "report/explain.h"
#include "report/redact.h"

namespace tent {

struct TextStyle {
  bool color = false;
  bool verbose = false;  // also values that nothing set, and how NICs were chosen
};

// Appends to `out`. `context` is the one that the result was explained with. Text from files is escaped for the
// terminal.
void appendText(std::string& out, const Result& result, const ExplainContext& context, const Redactor& redactor,
                const TextStyle& style);

}  // namespace tent
