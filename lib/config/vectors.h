// Intent vectors (`schemas/intent-vectors.schema.json`): requests in a file, with what is expected of them. A document
// holds them in an array behind a header; as NDJSON they come one a line, in constant memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fault.h"
#include "config/input.h"
#include "config/json_value.h"
#include "intent/policy_name.h"
#include "intent/request.h"
#include "policy/transport_policy.h"

namespace tent {

// What the C entry of a v1 vector claims about itself.
struct EntryClaim {
  static constexpr uint32_t kKnownSize = 88;  // of schema 1, wherever the file is read
  uint32_t struct_size = kKnownSize;
  uint64_t entry_stride = kKnownSize;                // default max(88, struct_size)
  uint32_t schema_version = kRequestSchemaV1;        // of the call
  uint32_t entry_schema_version = kRequestSchemaV1;  // of the entry; default schema_version
  uint32_t reserved0 = 0;
  uint32_t reserved_opcode = 0;
  uint32_t misalign = 0;  // bytes
  std::string tail;       // bytes from offset 88, decoded from hex
};

struct Vector {
  std::string name;  // "vector-<index>" where the file gives none
  size_t index = 0;  // within its file, from 0
  TextPosition position;
  Surface surface = Surface::kV1;
  std::optional<ValidationMode> mode;
  std::optional<PolicyName> tenant;  // normalized
  // Integers stand as given, names as their numbers. Views of `fields` are not set: policy_name is here.
  RequestFields fields;
  std::optional<std::string> policy_name;
  std::optional<EntryClaim> layout;
  SegmentType target_type = SegmentType::kMemory;
  std::string target_segment;  // "" the loopback peer
  std::string target_path;     // of a file target
  MemoryLocation source_memory;
  MemoryLocation target_memory;
  Registration source_registration = Registration::kApplication;
  Registration target_registration = Registration::kApplication;
  uint64_t repeat = 1;
  std::optional<JsonValue> expect;
};

// The keys before the vectors; in NDJSON they come from the command line.
struct VectorHeader {
  std::optional<ValidationMode> mode;
  std::optional<PolicyName> tenant;
  std::optional<uint64_t> now_ns;  // a pinned clock
};

struct VectorFile {
  VectorHeader header;
  std::vector<Vector> vectors;
};

// Reads a document. Faulty vectors are reported and left out. `clock_pinned_elsewhere`: --now is given, so absolute
// deadlines mean something even without the header's clock.
VectorFile readVectorFile(const JsonValue& document, FaultList& faults, bool clock_pinned_elsewhere);

// Reads one vector, of a document or of a line; nothing when it has a fault. `index`: its number within its file.
std::optional<Vector> readVector(const JsonValue& value, const std::string& pointer, FaultList& faults,
                                 bool clock_pinned, size_t index = 0);

enum class VectorFormat : uint8_t { kDocument, kNdjson };

// Which of the two `input` is, by its name's ending (.ndjson, .jsonl) or else by the first keys of its text. Consumes
// nothing and waits for no more of the text than it takes to tell; what cannot be told is taken for a document.
tl::expected<VectorFormat, std::string> sniffVectorFormat(Input& input);

}  // namespace tent
