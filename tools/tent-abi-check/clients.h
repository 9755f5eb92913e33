// Programs of others, run with the libraries: old and new ones in both directions.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tent-abi-check/elf_file.h"
#include "tent-abi-check/report.h"

namespace tent::tool {

struct ClientProgram {
  ElfFile program;
  bool is_old = false;  // built with a header from before the library's
};

struct ClientLibrary {
  ElfFile library;
  bool is_old = false;
};

// Why there is no place for temporary files, which clients need; "" there is one.
std::string temporaryFault();

// Runs each with each; adds the table and a check for each cell. A client must end with status 0 and have loaded the
// library. Only a new client that the loader refuses to start with an old library has done what it must: that is a
// warning.
void runClients(const std::vector<ClientProgram>& clients, const std::vector<ClientLibrary>& libraries,
                uint64_t timeout_ns, Report& report);

}  // namespace tent::tool
