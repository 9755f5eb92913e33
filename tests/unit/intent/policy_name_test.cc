#include "intent/policy_name.h"

#include <string>

#include <doctest/doctest.h>

namespace tent {
namespace {

TEST_CASE("a policy name has 1 to 127 bytes of the grammar") {
  for (const std::string& name : {std::string("a"), std::string("9"), std::string("A.b_c-9"), std::string(127, 'x')}) {
    CHECK(checkPolicyName(name) == Reason::kNone);
    CHECK(PolicyName(name).view() == name);
  }
}

TEST_CASE("what is wrong with a policy name is told in the stated order: empty, too long, bad character") {
  CHECK(checkPolicyName("") == Reason::kPolicyEmpty);
  CHECK(checkPolicyName(std::string(128, 'x')) == Reason::kPolicyTooLong);
  CHECK(checkPolicyName(std::string(128, ' ')) == Reason::kPolicyTooLong);
  for (const std::string& name :
       {std::string("-x"), std::string(".x"), std::string("_"), std::string("a b"), std::string("a/b"),
        std::string("\xC3\xA9"), std::string("a\0b", 3), std::string("a\n")}) {
    CHECK(checkPolicyName(name) == Reason::kPolicyBadCharacter);
  }
}

TEST_CASE("a tenant is trimmed and lower-cased, and empty means default") {
  CHECK(normalizeTenant(" TENANT-A ")->view() == "tenant-a");
  CHECK(normalizeTenant("")->view() == "default");
  CHECK(normalizeTenant(" \t ")->view() == "default");
  CHECK_FALSE(normalizeTenant("a b"));
  CHECK_FALSE(normalizeTenant("-a"));
  CHECK_FALSE(normalizeTenant(std::string(128, 'a')));
  CHECK(normalizeTenant(" " + std::string(127, 'A'))->view() == std::string(127, 'a'));
}

}  // namespace
}  // namespace tent
