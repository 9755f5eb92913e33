// Entries of a C array: any bytes, with any stride, decode without reading beyond what they say, and what decodes is
// decided without harm.
#include <cstdint>
#include <cstring>
#include <vector>

#include "intent/entry.h"
#include "intent/normalize.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tent;
  uint16_t stride = 0;
  if (size < sizeof stride + 1) return 0;
  std::memcpy(&stride, data, sizeof stride);
  const auto mode = static_cast<ValidationMode>(data[2] & 1);
  data += 3;
  size -= 3;
  if (stride == 0 || size < stride) return 0;
  const size_t count = size / stride;
  // Exactly as large as the caller says, so that a byte read behind it is found.
  std::vector<uint64_t> aligned((count * stride + 7) / 8);
  std::memcpy(aligned.data(), data, count * stride);
  if (checkEntries(aligned.data(), count, stride, kRequestSchemaV1)) return 0;
  for (size_t i = 0; i < count; ++i) {
    auto* const entry = reinterpret_cast<std::byte*>(aligned.data()) + i * stride;
    // A pointer in the bytes is the caller's word, which no library can check: it is one of ours, or none.
    static char name[200] = "fuzzed.name";
    const char* const pointer = (data[i * stride] & 1) != 0 ? name : nullptr;
    if (stride >= EntryV1Layout::kPolicyName + sizeof pointer) {
      const size_t length = size < sizeof name ? size : sizeof name;
      std::memcpy(name, data + (size - length), length);
      name[sizeof name - 1] = '\0';
      std::memcpy(entry + EntryV1Layout::kPolicyName, &pointer, sizeof pointer);
    }
    EntryV1 decoded;
    if (decodeEntryV1(entry, stride, kRequestSchemaV1, decoded)) continue;
    RequestedIntent requested;
    static_cast<void>(normalizeRequest(decoded.fields, mode, 1'000'000'000, requested));
  }
  return 0;
}
