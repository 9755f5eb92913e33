// Symbols and their versions.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tent-abi-check/judge.h"

namespace tent::tool {
namespace {

using ByName = std::map<std::string, std::vector<AbiSymbol>>;

ByName byName(const Description& of) {
  ByName out;
  for (const AbiSymbol& symbol : of.symbols) out[symbol.name].push_back(symbol);
  return out;
}

std::string versionText(const std::string& version) {
  return version.empty() ? "no version" : version;
}

std::string versionsText(const std::vector<AbiSymbol>& symbols) {
  std::string out;
  for (const AbiSymbol& symbol : symbols) out += (out.empty() ? "" : ", ") + versionText(symbol.version);
  return out;
}

class SymbolJudge {
 public:
  SymbolJudge(const Description& was, const Description& now, std::vector<Finding>& out)
      : description_(now), was_(byName(was)), now_(byName(now)), out_(out) {
    for (const AbiSymbol& symbol : was.symbols) released_.insert(symbol.version);
    released_.erase("");
  }

  void judgeAll() {
    for (const auto& [name, symbols] : was_) {
      for (const AbiSymbol& symbol : symbols) judgeOld(symbol);
    }
    for (const AbiFunction& function : description_.functions) {
      if (!was_.contains(function.name) && lacksSymbol(description_, function.name)) addNotExported(function.name);
    }
    std::vector<std::string> foreign;
    for (const auto& [name, symbols] : now_) {
      if (was_.contains(name)) continue;
      if (!name.starts_with("tent_")) {
        foreign.push_back(name);
      } else {
        for (const AbiSymbol& symbol : symbols) judgeNew(symbol);
      }
    }
    if (!foreign.empty()) addForeign(foreign);
  }

 private:
  void add(Verdict verdict, const char* rule, const std::string& name, std::string was, std::string now,
           std::string sentence, Victims breaks) {
    out_.push_back(
        {verdict, rule, "symbols", "symbol " + name, std::move(was), std::move(now), std::move(sentence), breaks});
  }

  void judgeOld(const AbiSymbol& old) {
    const auto it = now_.find(old.name);
    if (it == now_.end() && lacksSymbol(description_, old.name)) {
      add(Verdict::kBreaks, "symbol_removed", old.name, versionText(old.version), "",
          fmt::format("symbol {}, declared by the header, is not exported any more: it was in {}; give it back to the "
                      "symbol map",
                      old.name, versionText(old.version)),
          {true, false, true});
      return;
    }
    if (it == now_.end()) {
      add(Verdict::kBreaks, "symbol_removed", old.name, versionText(old.version), "",
          fmt::format("{} ({}) is not exported any more", old.name, versionText(old.version)), {true, false, true});
      return;
    }
    const auto same = std::find_if(it->second.begin(), it->second.end(),
                                   [&](const AbiSymbol& one) { return one.version == old.version; });
    if (same == it->second.end()) {
      // Who was linked when there were no versions takes any.
      const bool fine = old.version.empty();
      add(fine ? Verdict::kHarmless : Verdict::kBreaks, "symbol_reversioned", old.name, versionText(old.version),
          versionsText(it->second),
          fmt::format("{} had {} and has {}", old.name, versionText(old.version), versionsText(it->second)),
          {!fine, false, false});
      return;
    }
    if (same->kind != old.kind) {
      add(Verdict::kBreaks, "symbol_kind_changed", old.name, old.kind, same->kind,
          fmt::format("{} was a {} and is a {}", old.name, old.kind, same->kind), {true, true, true});
    }
    const bool another =
        std::any_of(it->second.begin(), it->second.end(), [](const AbiSymbol& one) { return one.by_default; });
    if (old.by_default && !same->by_default && !another) {
      add(Verdict::kBreaks, "symbol_default_removed", old.name, versionText(old.version), "",
          fmt::format("{} has no default version any more: programs cannot be linked with it", old.name),
          {false, false, true});
    }
  }

  void judgeNew(const AbiSymbol& symbol) {
    if (released_.contains(symbol.version)) {
      add(Verdict::kBreaks, "released_version_changed", symbol.name, "", symbol.version,
          fmt::format("{} is new in {}, which has been released: a client that uses it starts with the old library and "
                      "fails at the call, instead of being refused at once; give it a version of its own",
                      symbol.name, symbol.version),
          {false, true, false});
      return;
    }
    add(Verdict::kHarmless, "symbol_added", symbol.name, "", versionText(symbol.version),
        fmt::format("{} ({}) is new", symbol.name, versionText(symbol.version)), {});
  }

  void addNotExported(const std::string& name) {
    add(Verdict::kBreaks, "symbol_not_exported", name, "", "",
        fmt::format(
            "symbol {}, declared by the header, is not exported: programs that call it cannot be linked; name it "
            "in the symbol map",
            name),
        {false, false, true});
  }

  void addForeign(const std::vector<std::string>& names) {
    add(Verdict::kBreaks, "foreign_symbols_exported", names.front(), "", names.front(),
        fmt::format("{} that {} not of the API {} exported now, {} first: they take the place of a program's own of "
                    "the same name; make them local in the symbol map",
                    names.size() == 1 ? "a symbol" : fmt::format("{} symbols", names.size()),
                    names.size() == 1 ? "is" : "are", names.size() == 1 ? "is" : "are", names.front()),
        {true, false, false});
  }

  const Description& description_;  // of now
  ByName was_;
  ByName now_;
  std::set<std::string> released_;  // the versions that the old library has
  std::vector<Finding>& out_;
};

}  // namespace

void judgeSymbols(const Description& was, const Description& now, std::vector<Finding>& out) {
  SymbolJudge(was, now, out).judgeAll();
}

}  // namespace tent::tool
