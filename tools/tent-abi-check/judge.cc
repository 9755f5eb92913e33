#include "tent-abi-check/judge.h"

#include <algorithm>

#include <fmt/format.h>

namespace tent::tool {
namespace {

std::string orNone(const std::string& text) {
  return text.empty() ? "none" : text;
}

void judgeLibrary(const Description& was, const Description& now, std::vector<Finding>& out) {
  if (was.architecture != now.architecture) {
    out.push_back({Verdict::kBreaks,
                   "architecture_changed",
                   "library",
                   "architecture",
                   was.architecture,
                   now.architecture,
                   fmt::format("the library was for {} and is for {}: nothing else can be compared", was.architecture,
                               now.architecture),
                   {true, true, false}});
  }
  if (was.soname != now.soname) {
    out.push_back(
        {Verdict::kBreaks,
         "soname_changed",
         "library",
         "soname",
         was.soname,
         now.soname,
         fmt::format("the soname was {} and is {}: programs that need the old one do not start with this library",
                     orNone(was.soname), orNone(now.soname)),
         {true, true, false}});
  }
}

// A break under the old name: programs that cannot work with the library load it all the same.
void judgeKeptSoname(const Description& was, const Description& now, std::vector<Finding>& out) {
  if (was.soname.empty() || was.soname != now.soname) return;
  const auto broken = std::count_if(out.begin(), out.end(), [](const Finding& finding) {
    return finding.verdict == Verdict::kBreaks && finding.breaks.old_client;
  });
  if (broken == 0) return;
  out.push_back(
      {Verdict::kBreaks,
       "soname_kept",
       "library",
       "soname",
       was.soname,
       now.soname,
       fmt::format("the soname is {} as before, over {} that break{} old clients: they load this library, and "
                   "fail in it; undo {}",
                   was.soname, broken == 1 ? "a change" : fmt::format("{} changes", broken), broken == 1 ? "s" : "",
                   broken == 1 ? "it" : "them"),
       {true, false, false}});
}

void judgeMissing(const char* which, const Description& side, const JudgeOptions& options,
                  std::vector<std::string>& out) {
  if (!side.types_missing.empty() && !options.without_types) {
    out.push_back(
        fmt::format("types and prototypes of the {} library: {}; give its debug information with "
                    "--debug-info-dir, or leave them out with --without-types",
                    which, side.types_missing));
  }
  if (!side.constants_missing.empty()) {
    out.push_back(fmt::format("constants and macros of the {} library: {}", which, side.constants_missing));
  }
}

size_t placeOf(const char* group) {
  return static_cast<size_t>(std::find_if(std::begin(kGroups), std::end(kGroups),
                                          [&](const char* one) { return std::string_view(one) == group; }) -
                             std::begin(kGroups));
}

}  // namespace

Judgement judge(const Description& was, const Description& now, const JudgeOptions& options) {
  Judgement out;
  judgeMissing("old", was, options, out.not_compared);
  judgeMissing("new", now, options, out.not_compared);
  std::vector<Finding>& findings = out.findings;
  judgeLibrary(was, now, findings);
  const bool comparable = was.architecture == now.architecture;
  const bool with_types = was.types_missing.empty() && now.types_missing.empty() && !options.without_types;
  const bool with_constants = was.constants_missing.empty() && now.constants_missing.empty();
  const char* const no_types = options.without_types ? "not asked for (--without-types)" : "not told by both libraries";
  const auto compare = [&](const char* group, bool possible, const char* otherwise, auto part) {
    if (comparable && possible) {
      part();
    } else {
      out.left_out.push_back({group, comparable ? otherwise : "the libraries are for different machines"});
    }
  };
  compare("symbols", true, "", [&] { judgeSymbols(was, now, findings); });
  // A stripped library's structs come from the description that it carries: one that has neither has none to compare.
  compare("structs", with_types || with_constants, no_types, [&] { judgeStructs(was, now, with_types, findings); });
  compare("types", with_types, no_types, [&] { judgeTypedefs(was, now, findings); });
  compare("functions", with_types, no_types, [&] { judgeFunctions(was, now, findings); });
  compare("constants", with_constants, "not told by both libraries", [&] { judgeConstants(was, now, findings); });
  compare("version", true, "", [&] { judgeVersions(was, now, findings); });
  judgeKeptSoname(was, now, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return placeOf(a.group) < placeOf(b.group); });
  return out;
}

std::string describe(const Victims& victims) {
  std::string out;
  const auto add = [&](bool broken, const char* who) {
    if (broken) out += (out.empty() ? "" : ", ") + std::string(who);
  };
  add(victims.old_client, "old clients with the new library");
  add(victims.new_client, "new clients with the old library");
  add(victims.source, "source");
  return out.empty() ? "nobody" : out;
}

bool sameButForQualifiers(const AbiType& a, const AbiType& b) {
  const auto bare = [](std::string text) {
    for (const std::string_view word : {"const ", "volatile ", " const"}) {
      for (size_t at = text.find(word); at != std::string::npos; at = text.find(word)) text.erase(at, word.size());
    }
    return text;
  };
  return bare(a.resolved) == bare(b.resolved);
}

}  // namespace tent::tool
