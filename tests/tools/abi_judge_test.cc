// The judgement of tent-abi-check over descriptions that no library needs to be built for.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tent-abi-check/judge.h"
#include "tent-abi-check/report.h"

namespace tent::tool {
namespace {

AbiMember member(const std::string& name, const std::string& type, const std::string& resolved, uint64_t offset,
                 uint64_t size) {
  return {name, {type, resolved}, offset, size};
}

Description library() {
  Description out;
  out.soname = "libtent.so.1";
  out.architecture = "x86_64";
  out.symbols = {{"tent_a", "TENT_0", true, "function"}, {"tent_b", "TENT_1.0", true, "function"}};
  out.structs = {
      {"tent_fixed", 16, 8, {member("first", "int", "i32", 0, 4), member("second", "uint64_t", "u64", 8, 8)}},
      {"tent_grows",
       16,
       8,
       {member("struct_size", "uint32_t", "u32", 0, 4), member("mode", "int32_t", "i32", 4, 4),
        member("name", "const char*", "const char*", 8, 8)}}};
  out.constants = {{"TENT_OK", false, 0}, {"TENT_WRONG", true, static_cast<uint64_t>(-4)}};
  out.macros = {{"TENT_GROWS_INIT", "{ sizeof(struct tent_grows), 0, NULL }"}};
  out.functions = {{"tent_a", false, "int (void*)", {"int", "i32"}, {{"void*", "void*"}}}};
  out.api_version = 1u << 16;
  return out;
}

// The rules of what was found, without those that hurt nobody.
std::vector<std::string> rules(const Description& was, const Description& now) {
  std::vector<std::string> out;
  for (const Finding& finding : judge(was, now, {}).findings) {
    if (finding.verdict != Verdict::kHarmless) out.emplace_back(finding.rule);
  }
  return out;
}

using Rules = std::vector<std::string>;

TEST_CASE("a library is compatible with itself, and every group was compared") {
  const Judgement same = judge(library(), library(), {});
  CHECK(same.findings.empty());
  CHECK(same.left_out.empty());
  CHECK(same.not_compared.empty());
  Report report;
  report.checks = checksOf(same);
  CHECK(exitCodeOf(report) == 0);
}

TEST_CASE("a function that is declared and exported by neither library") {
  Description now = library();
  now.functions.push_back({"tent_c", false, "int (void)", {}, {}});
  CHECK(rules(library(), now) == Rules{"symbol_not_exported"});
  now.functions.back().is_inline = true;
  CHECK(rules(library(), now).empty());
}

TEST_CASE("what begins with struct_size may grow at its end, and nothing else may") {
  Description now = library();
  now.structs[1].members.push_back(member("span", "uint64_t", "u64", 16, 8));
  now.structs[1].size = 24;
  now.macros[0].text = "{ sizeof(struct tent_grows), 0, NULL, 0u }";
  CHECK(rules(library(), now) == Rules{"api_minor_not_raised"});
  now.api_version = (1u << 16) + 1;
  CHECK(rules(library(), now).empty());
  now = library();
  now.structs[0].members.push_back(member("span", "uint64_t", "u64", 16, 8));
  now.structs[0].size = 24;
  CHECK(rules(library(), now) == Rules{"soname_kept", "member_appended_to_fixed_struct"});
}

TEST_CASE("members that are pushed along have moved; those that pass others are reordered") {
  Description now = library();
  now.structs[1].members = {member("struct_size", "uint32_t", "u32", 0, 4), member("flags", "uint32_t", "u32", 4, 4),
                            member("mode", "int32_t", "i32", 8, 4),
                            member("name", "const char*", "const char*", 16, 8)};
  now.structs[1].size = 24;
  CHECK(rules(library(), now) == Rules{"soname_kept", "member_moved", "member_moved", "member_inserted"});
  now = library();
  std::swap(now.structs[1].members[0].offset, now.structs[1].members[1].offset);
  CHECK(rules(library(), now) == Rules{"soname_kept", "member_reordered", "member_reordered"});
}

TEST_CASE("a size that no member explains is told by itself") {
  Description now = library();
  now.structs[0].size = 32;
  CHECK(rules(library(), now) == Rules{"soname_kept", "struct_resized"});
}

TEST_CASE("a new soname is a break of its own, and then none is kept") {
  Description now = library();
  now.soname = "libtent.so.2";
  now.constants[1].value = static_cast<uint64_t>(-5);
  CHECK(rules(library(), now) == Rules{"soname_changed", "constant_changed"});
  now.soname.clear();
  CHECK(rules(library(), now).front() == "soname_changed");
}

TEST_CASE("a symbol may have a second version, and old programs keep theirs") {
  Description now = library();
  now.symbols[0].by_default = false;
  CHECK(rules(library(), now) == Rules{"symbol_default_removed"});
  now.symbols.push_back({"tent_a", "TENT_1.1", true, "function"});
  CHECK(rules(library(), now).empty());
  Description unversioned = library();
  for (AbiSymbol& symbol : unversioned.symbols) symbol.version.clear();
  CHECK(rules(unversioned, library()).empty());
  CHECK(rules(library(), unversioned) == Rules{"soname_kept", "symbol_reversioned", "symbol_reversioned"});
}

TEST_CASE("what was not analysed is never taken for unchanged") {
  Description stripped = library();
  stripped.types_missing = "stripped";
  for (const auto& [was, now] :
       {std::pair(library(), stripped), std::pair(stripped, library()), std::pair(stripped, stripped)}) {
    const Judgement judgement = judge(was, now, {});
    CHECK_FALSE(judgement.not_compared.empty());
    Report report;
    report.checks = checksOf(judgement);
    CHECK(exitCodeOf(report) == 3);
    CHECK(answerOf(report) == "not analysed");
  }
  const Judgement asked_for_less = judge(library(), stripped, {true});
  CHECK(asked_for_less.not_compared.empty());
  CHECK(asked_for_less.left_out.size() == 2);
}

TEST_CASE("a break weighs more than what was not analysed, and nothing checked is no success") {
  Description now = library();
  now.types_missing = "stripped";
  now.constants[0].value = 1;
  Report report;
  report.checks = checksOf(judge(library(), now, {}));
  CHECK(exitCodeOf(report) == 1);
  CHECK(exitCodeOf(Report{}) == 3);
  Report skipped;
  skipped.checks.push_back({"one", Outcome::kSkip, "no reason", 0, std::nullopt, true});
  CHECK(exitCodeOf(skipped) == 3);
}

TEST_CASE("another machine ends the comparison") {
  Description now = library();
  now.architecture = "aarch64";
  now.constants[0].value = 1;
  const Judgement judgement = judge(library(), now, {});
  CHECK(std::string(judgement.findings.front().rule) == "architecture_changed");
  CHECK(judgement.left_out.size() == 6);
}

TEST_CASE("versions: the minor grows with what is added, the major never, neither shrinks") {
  Description now = library();
  now.constants.push_back({"TENT_MORE", false, 7});
  CHECK(rules(library(), now) == Rules{"api_minor_not_raised"});
  now.api_version = (1u << 16) + 1;
  CHECK(rules(library(), now).empty());
  CHECK(rules(now, library()) == Rules{"soname_kept", "constant_removed", "api_version_lowered"});
  now.api_version = 2u << 16;
  CHECK(rules(library(), now) == Rules{"soname_kept", "api_major_changed"});
  now.api_version.reset();
  CHECK(rules(library(), now) == Rules{"soname_kept", "api_version_removed"});
}

TEST_CASE("qualifiers alone are a doubt, another type is a break") {
  Description now = library();
  now.functions[0].declared = "int (const void*)";
  CHECK(rules(library(), now) == Rules{"prototype_changed"});
  CHECK(judge(library(), now, {}).findings.front().verdict == Verdict::kDoubtful);
  now.functions[0].parameters[0] = {"char*", "char*"};
  CHECK(rules(library(), now) == Rules{"soname_kept", "prototype_changed"});
}

}  // namespace
}  // namespace tent::tool
