// Runs the behaviour checks against a library, each in a process of its own with a time limit.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tent-abi-check/elf_file.h"
#include "tent-abi-check/report.h"

namespace tent::tool {

struct BehaviourOptions {
  bool legacy_only = false;  // what v1 adds is not asked for
  uint64_t timeout_ns = 0;   // of each check
};

// Sets report.interrupted when it was; what was done until then is there.
void runBehaviour(const ElfFile& library, const BehaviourOptions& options, Report& report);

// The hidden command by which each check runs: loads the library, runs the check, prints its outcome and reason.
inline constexpr const char* kCheckCommand = "--check-library";
int checkLibrary(const std::string& name, const std::string& path);

}  // namespace tent::tool
