// An environment as JSON, in the format of schemas/environment.schema.json: what --probe prints can be saved and
// planned against elsewhere. With redaction the addresses' host bits are zero and plans stay the same.
#pragma once

#include "inventory/environment.h"
#include "report/json_writer.h"
#include "report/redact.h"

namespace tent {

void writeEnvironment(JsonWriter& json, const Environment& environment, std::string_view description,
                      const Redactor& redactor);

}  // namespace tent
