// The options that all tools have, with one meaning.
#pragma once

#include <optional>
#include <string>

#include "intent/policy_name.h"
#include "intent/values.h"

namespace tent::tool {

enum class OutputFormat : uint8_t { kText, kJson, kNdjson };

struct CommonOptions {
  OutputFormat format = OutputFormat::kText;
  std::string config_path;  // "" none
  std::optional<ValidationMode> mode;
  std::optional<PolicyName> tenant;
  bool quiet = false;
  bool verbose = false;
  bool color = false;  // the output is a terminal, and neither --no-color nor NO_COLOR refuses
};

}  // namespace tent::tool
