// What the difference of two descriptions breaks, and whom. The judgement is this project's own: what may be appended
// where, what a version and a soname promise (lib/include/tent/transfer_engine.h, conventions; lib/abi/tent.map).
//
// Pure: the same descriptions, the same findings in the same order; nothing is looked up anywhere else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tent-abi-check/description.h"

namespace tent::tool {

enum class Verdict : uint8_t {
  kHarmless,  // a change that nobody can notice who does not ask for it
  kDoubtful,  // breaks nobody, and is unlikely to be meant
  kBreaks,
};

struct Victims {
  bool old_client = false;  // compiled with the old header, run with the new library
  bool new_client = false;  // compiled with the new header, run with the old library
  bool source = false;      // compiles no more with the new header, or to something else
};

struct Finding {
  Verdict verdict = Verdict::kBreaks;
  const char* rule = "";   // "member_removed": stable, for machines
  const char* group = "";  // one of kGroups
  std::string subject;     // "struct tent_request, member source"
  std::string was;         // "" there was none
  std::string now;
  std::string sentence;  // all of it for people
  Victims breaks;
};

// A group that was not compared, and why.
struct LeftOut {
  const char* group;
  std::string why;
};

struct Judgement {
  std::vector<Finding> findings;
  std::vector<LeftOut> left_out;
  // What was asked for and could not be compared, and why. While there is any, nothing may be called compatible.
  std::vector<std::string> not_compared;
};

// What is compared, in the order of the findings.
inline constexpr const char* kGroups[] = {"library",   "symbols",   "structs", "types",
                                          "constants", "functions", "version"};

struct JudgeOptions {
  // Types and prototypes are not compared, because they were not asked for: a stripped library has none.
  bool without_types = false;
};

Judgement judge(const Description& was, const Description& now, const JudgeOptions& options);

// "old clients, source"; "nobody".
std::string describe(const Victims& victims);

// The parts, each adding what it finds; for judge alone.
void judgeSymbols(const Description& was, const Description& now, std::vector<Finding>& out);
void judgeStructs(const Description& was, const Description& now, bool with_types, std::vector<Finding>& out);
void judgeTypedefs(const Description& was, const Description& now, std::vector<Finding>& out);
void judgeConstants(const Description& was, const Description& now, std::vector<Finding>& out);
void judgeFunctions(const Description& was, const Description& now, std::vector<Finding>& out);
void judgeVersions(const Description& was, const Description& now, std::vector<Finding>& out);

// Whether the change from one type to the other is one of qualifiers alone (const).
bool sameButForQualifiers(const AbiType& a, const AbiType& b);

}  // namespace tent::tool
