// tent-abi-check where the libraries that it reads with were missing when this was built: it says so, and calls nothing
// compatible.
#include <cstdio>
#include <string_view>

#include "common/exit_code.h"
#include "common/version.h"

int main(int argc, char** argv) {
  using namespace tent::tool;
  constexpr const char* kWhy = "abi analysis: not_built (libelf or pugixml was missing)";
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::printf("%s\n%s\n", versionText("tent-abi-check").c_str(), kWhy);
    return std::fflush(stdout) == 0 ? kExitOk : kExitEnvironment;
  }
  std::fprintf(stderr, "tent-abi-check: %s; install libelf-dev and libpugixml-dev, configure and build again\n", kWhy);
  return kExitEnvironment;
}
