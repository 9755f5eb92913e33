// The result object of one vector, and the file of results around them, as JSON in the fixed order of keys (schema:
// schemas/results.schema.json). Every key is always there.
#pragma once

#include <string_view>

#include "report/explain.h"
#include "report/json_writer.h"
#include "report/redact.h"

namespace tent {

void writeResult(JsonWriter& json, const Result& result, const Redactor& redactor);

}  // namespace tent
