// A library as its description: the file, the description that it carries, its debug information, and what it answers
// when it is loaded, each compared with the others, so that none can speak of another library.
//
// Thread safety: none; it runs children.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "tent-abi-check/description.h"
#include "tent-abi-check/elf_file.h"

namespace tent::tool {

struct Failure {
  int exit_code = 0;
  std::string sentence;
};

// A library that this process could load and that has functions of the API.
tl::expected<ElfFile, Failure> openLibrary(const std::string& path);

struct Analysis {
  std::string debug_folder;  // as analyseTypes
  uint64_t timeout_ns = 0;   // of loading the library
};

tl::expected<Description, Failure> describeLibrary(const ElfFile& library, const Analysis& analysis);

// A library or a description, whichever the file is; faults of a description are printed.
tl::expected<Description, Failure> loadDescription(const std::string& path, const Analysis& analysis);

// The hidden command that describeLibrary runs as a child: loads the library and prints what it answers.
inline constexpr const char* kProbeCommand = "--probe-library";
int probeLibrary(const std::string& path);

}  // namespace tent::tool
