// A shared library as a file: what can be told of it before it is loaded or analysed. Read with libelf from a copy in
// memory, so that a file that is written meanwhile cannot be two things at once.
//
// A file that is not wholly there is refused here, with what is wrong, before any other program sees it. Thread safety:
// values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "tent-abi-check/description.h"

namespace tent::tool {

struct ElfFile {
  std::string path;
  std::string architecture;  // "x86_64", "aarch64"; "machine 243" where it has no name here
  bool native = false;       // this process could load it
  bool big_endian = false;
  std::string soname;    // "" none
  std::string build_id;  // "" none
  std::vector<std::string> needed;
  std::vector<AbiSymbol> symbols;  // defined and exported, by name and version; those of version nodes are left out
  bool has_debug_information = false;
  std::string description;  // the bytes of TENT_ABI_DESCRIPTION_SECTION; "" none
};

enum class ElfKind : uint8_t { kLibrary, kProgram };

// The error is a sentence that names the file. A program needs to be one that loads libraries.
tl::expected<ElfFile, std::string> readElfFile(const std::string& path, ElfKind kind = ElfKind::kLibrary);

// The same of bytes that were read already, in `file` as far as they could be. The error has no name in front.
std::string readElfBytes(std::string& bytes, ElfFile& file, ElfKind kind = ElfKind::kLibrary);

// The path as the loader takes it for one: it looks elsewhere for a name without a slash.
std::string loadablePath(const ElfFile& library);

// Whether the file begins as ELF files do. False too where it cannot be read.
bool looksLikeElf(const std::string& path);

// The sanitizer runtimes that `library` was built with, as LD_PRELOAD takes them: such a library cannot be loaded by a
// program that was not. "" none.
std::string sanitizerRuntimes(const ElfFile& library);

}  // namespace tent::tool
