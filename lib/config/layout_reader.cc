#include "config/layout_reader.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "config/fields.h"

namespace tent {
namespace {

constexpr uint32_t kKnownSize = EntryClaim::kKnownSize;
constexpr uint64_t kMisalignMax = 4095;  // more is another page, not another alignment

uint32_t read32(ObjectReader& object, std::string_view key, uint32_t absent) {
  const std::optional<uint64_t> value = object.unsignedInteger(key, 0, std::numeric_limits<uint32_t>::max());
  return static_cast<uint32_t>(value.value_or(absent));
}

std::string readTail(ObjectReader& object, uint32_t struct_size) {
  const std::optional<std::string> text = object.string("tail");
  if (!text) return {};
  std::optional<std::string> bytes = fromHex(*text);
  if (!bytes) {
    object.fault("tail", "expected pairs of hexadecimal digits");
    return {};
  }
  const size_t room = struct_size > kKnownSize ? struct_size - kKnownSize : 0;
  if (bytes->size() > room) {
    object.fault("tail", fmt::format("has {} bytes from offset {} on, but an entry of struct_size {} has room for {}",
                                     bytes->size(), kKnownSize, struct_size, room));
  }
  return *std::move(bytes);
}

}  // namespace

EntryClaim readLayout(const JsonValue& value, const std::string& pointer, FaultList& faults) {
  ObjectReader object(value, pointer, faults);
  EntryClaim claim;
  claim.struct_size = read32(object, "struct_size", kKnownSize);
  claim.entry_stride = object.unsignedInteger("entry_stride", 0, std::numeric_limits<uint64_t>::max())
                           .value_or(std::max(kKnownSize, claim.struct_size));
  claim.schema_version = read32(object, "schema_version", kRequestSchemaV1);
  claim.entry_schema_version = read32(object, "entry_schema_version", claim.schema_version);
  claim.reserved0 = read32(object, "reserved0", 0);
  claim.reserved_opcode = read32(object, "reserved_opcode", 0);
  claim.misalign = static_cast<uint32_t>(object.unsignedInteger("misalign", 0, kMisalignMax).value_or(0));
  claim.tail = readTail(object, claim.struct_size);
  object.finish(UnknownKeys::kError);
  return claim;
}

}  // namespace tent
