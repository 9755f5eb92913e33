// What tent-abi-check reads that another may have written: the JSON of a description, the section that a library
// carries, and the ELF file around it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "abi/description.h"
#include "config/fault.h"
#include "config/json_value.h"
#include "tent-abi-check/carried.h"
#include "tent-abi-check/description_json.h"
#include "tent-abi-check/elf_file.h"

namespace {

using namespace tent;
using namespace tent::tool;

// What was understood is written, and read again to the same.
void writeAndRead(const Description& description) {
  FaultList faults("again");
  const auto document = parseJson(descriptionText(description), faults);
  if (!document || readDescription(*document, faults) != description || faults.hasErrors()) std::abort();
}

void readJson(std::string_view text) {
  FaultList faults("fuzz");
  const auto document = parseJson(text, faults);
  if (!document) return;
  const Description description = readDescription(*document, faults);
  const auto& all = faults.faults();
  // No input of a fuzzer has the right checksum; where all else is right, it is given one.
  if (all.empty() || (all.size() == 1 && all.front().pointer == "/sha256")) writeAndRead(description);
  static_cast<void>(faults.format());
}

void readSection(std::string_view bytes) {
  ElfFile library;
  library.description = bytes;
  Description description;
  static_cast<void>(readCarried(library, description));
}

void readElf(std::string_view bytes, ElfKind kind) {
  std::string copy(bytes);
  ElfFile library;
  if (!readElfBytes(copy, library, kind).empty()) return;
  Description description;
  static_cast<void>(readCarried(library, description));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0: readJson(text); break;
    case 1: readSection(text); break;
    case 2: readElf(text, ElfKind::kLibrary); break;
    default: readElf(text, ElfKind::kProgram); break;
  }
  return 0;
}
