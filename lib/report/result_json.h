// The result object of one vector, and the file of results around them, as JSON in the fixed order of keys (schema:
// schemas/results.schema.json). Every key is always there.
#pragma once

#include <functional>
#include <string>

#include "report/explain.h"
#include "report/json_writer.h"
#include "report/redact.h"

namespace tent {

// Writes the members that a tool has to add behind all others.
using MoreMembers = std::function<void(JsonWriter& json)>;

void writeResult(JsonWriter& json, const Result& result, const Redactor& redactor, const MoreMembers& more = {});

// The result as JSON text.
std::string resultText(const Result& result, const Redactor& redactor);

}  // namespace tent
