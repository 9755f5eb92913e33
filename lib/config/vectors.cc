#include "config/vectors.h"

#include <limits>

#include <fmt/format.h>

#include "config/expect_reader.h"
#include "config/fields.h"
#include "config/layout_reader.h"
#include "config/request_reader.h"
#include "config/value_fields.h"

namespace tent {
namespace {

constexpr uint64_t kRepeatMax = uint64_t{1} << 32;

void readClock(ObjectReader& document, VectorHeader& header) {
  const JsonValue* value = document.take("clock");
  if (!value) return;
  ObjectReader clock(*value, document.pointerOf("clock"), document.faults());
  clock.require("now_ns");
  header.now_ns = clock.unsignedInteger("now_ns", 1, std::numeric_limits<uint64_t>::max());
  clock.finish(UnknownKeys::kError);
}

void readClaim(ObjectReader& object, Vector& vector) {
  const JsonValue* value = object.take("layout");
  if (!value) return;
  if (vector.surface != Surface::kV1) {
    object.fault("layout", fmt::format("only the v1 surface has a layout, not {}", nameOf(vector.surface)));
  }
  vector.layout = readLayout(*value, object.pointerOf("layout"), object.faults());
}

}  // namespace

std::optional<Vector> readVector(const JsonValue& value, const std::string& pointer, FaultList& faults,
                                 bool clock_pinned, size_t index) {
  const size_t errors_before = faults.errorCount();
  ObjectReader object(value, pointer, faults);
  Vector vector;
  vector.index = index;
  vector.position = value.position;
  vector.name = object.string("name").value_or(fmt::format("vector-{}", index));
  if (const auto surface = object.oneOf("surface", namesOf<Surface>())) vector.surface = static_cast<Surface>(*surface);
  vector.mode = readMode(object, "mode");
  vector.tenant = readTenant(object, "tenant");
  vector.repeat = object.unsignedInteger("repeat", 1, kRepeatMax).value_or(1);
  object.require("request");
  if (const JsonValue* request = object.take("request")) {
    readRequest(*request, object.pointerOf("request"), faults, clock_pinned, vector);
  }
  readClaim(object, vector);
  if (const JsonValue* expect = object.take("expect")) {
    checkExpectation(*expect, object.pointerOf("expect"), faults);
    vector.expect = *expect;
  }
  object.finish(UnknownKeys::kError);
  if (faults.errorCount() != errors_before) return std::nullopt;
  return vector;
}

VectorFile readVectorFile(const JsonValue& document, FaultList& faults, bool clock_pinned_elsewhere) {
  ObjectReader object(document, "", faults);
  VectorFile file;
  readSchemaVersion(object);
  file.header.mode = readMode(object, "mode");
  file.header.tenant = readTenant(object, "tenant");
  readClock(object, file.header);
  // A clock that is faulty was still meant to be pinned: its own fault is enough.
  const bool clock_pinned = clock_pinned_elsewhere || object.take("clock");
  object.require("vectors");
  if (const std::vector<JsonValue>* items = object.array("vectors")) {
    for (size_t i = 0; i < items->size(); ++i) {
      auto vector = readVector((*items)[i], pointerTo(object.pointerOf("vectors"), i), faults, clock_pinned, i);
      if (vector) file.vectors.push_back(*std::move(vector));
    }
  }
  object.finish(UnknownKeys::kError);
  return file;
}

}  // namespace tent
