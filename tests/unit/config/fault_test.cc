#include "config/fault.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

TEST_CASE("a fault is one line with its file, place and pointer") {
  FaultList faults("a.json");
  faults.error({3, 7}, "/vectors/0/length", "must be at least 1, is 0");
  faults.warning({4, 1}, "", "not used");
  CHECK(faults.format() ==
        "a.json:3:7: /vectors/0/length: must be at least 1, is 0\n"
        "a.json:4:1: /: warning: not used\n");
}

TEST_CASE("faults stand in the order of their places however they were reported") {
  FaultList faults("a.json");
  faults.error({9, 1}, "/c", "third");
  faults.error({2, 8}, "/b", "second");
  faults.error({2, 3}, "/a", "first");
  faults.error({2, 8}, "/b", "second again");
  CHECK(faults.format() ==
        "a.json:2:3: /a: first\na.json:2:8: /b: second\na.json:2:8: /b: second again\na.json:9:1: /c: third\n");
}

TEST_CASE("warnings alone are no errors") {
  FaultList faults("a.json");
  CHECK_FALSE(faults.hasErrors());
  faults.warning({1, 1}, "", "w");
  CHECK_FALSE(faults.hasErrors());
  CHECK(faults.warningCount() == 1);
  faults.error({1, 1}, "", "e");
  CHECK(faults.hasErrors());
  CHECK(faults.errorCount() == 1);
}

TEST_CASE("faults beyond the most that is kept are counted, and warnings crowd out no error") {
  FaultList faults("a.json");
  for (size_t i = 1; i <= FaultList::kMaxFaults + 5; ++i) faults.warning({i, 1}, "", "w");
  faults.error({9999, 1}, "", "e");
  CHECK(faults.faults().size() == FaultList::kMaxFaults + 1);
  CHECK(faults.faults().back().message == "e");
  CHECK(faults.warningCount() == FaultList::kMaxFaults + 5);
  CHECK(faults.format().ends_with("a.json:9999:1: /: e\na.json: 5 more like these\n"));
}

TEST_CASE("names from outside cannot steer the terminal") {
  FaultList faults("a\x1b.json");
  faults.error({1, 1}, "/\n", "unknown key \"\u202e\"");
  CHECK(faults.format() == "a\\x1b.json:1:1: /\\x0a: unknown key \"\\u202e\"\n");
}

TEST_CASE("a pointer of megabytes is kept short") {
  FaultList faults("a.json");
  faults.error({1, 1}, std::string(10'000'000, 'p'), std::string(10'000'000, 'm'));
  CHECK(faults.faults()[0].pointer.size() == FaultList::kMaxTextBytes);
  CHECK(faults.faults()[0].message.size() == FaultList::kMaxTextBytes);
}

TEST_CASE("the first error stands for all, and says how many more there are") {
  FaultList faults("f.json");
  CHECK(faults.firstError() == "");
  faults.warning({1, 1}, "/w", "a warning");
  CHECK(faults.firstError() == "");
  faults.error({3, 1}, "/b", "later");
  CHECK(faults.firstError() == "f.json:3:1: /b: later");
  faults.error({2, 1}, "/a", "sooner");
  CHECK(faults.firstError() == "f.json:2:1: /a: sooner (and 1 more)");
}

}  // namespace
}  // namespace tent
