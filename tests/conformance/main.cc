// doctest's main, less the suites that this environment cannot run: those are skips (77) with their reason.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "conformance/fixture.h"

namespace tent::conformance {
namespace {

// Whether the kernel lets one process copy another's memory here.
Error copyingRefused() {
  Fixture fixture(kShmCopied);
  const RemoteRegion region = fixture.target.memory(1, Access::kRead);
  const OpenLink link = fixture.open();
  return link.link->reaches(region);
}

}  // namespace
}  // namespace tent::conformance

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--test-suite=shm_copied") continue;
    context.setAsDefaultForAssertsOutOfTestCases();
    context.setAssertHandler([](const doctest::AssertData& failed) {
      if (!failed.m_failed) return;
      fmt::print(stderr, "{}:{}: {} {}\n", failed.m_file, failed.m_line, failed.m_expr, failed.m_decomp.c_str());
      std::exit(1);
    });
    if (const tent::Error refusal = tent::conformance::copyingRefused()) {
      fmt::print("skipped: {}\n", messageOf(refusal));
      return 77;
    }
  }
  return context.run();
}
