// Constants, macros, typedefs, prototypes, and what the library says of its version and schemas.
#include <algorithm>

#include <fmt/format.h>

#include "tent-abi-check/judge.h"

namespace tent::tool {
namespace {

constexpr const char* kVersionConstants = "TENT_API_VERSION";  // and _MAJOR, _MINOR: judged as a version

// Adds findings of one group with the name of what they are about.
class Findings {
 public:
  Findings(const char* group, std::vector<Finding>& out) : group_(group), out_(out) {}
  void add(Verdict verdict, const char* rule, std::string subject, std::string was, std::string now,
           std::string sentence, Victims breaks) {
    out_.push_back(
        {verdict, rule, group_, std::move(subject), std::move(was), std::move(now), std::move(sentence), breaks});
  }

 private:
  const char* group_;
  std::vector<Finding>& out_;
};

// Whether an initializer only has more at its end: "{ a, b }" and "{ a, b, c }".
bool extends(std::string_view longer, std::string_view shorter) {
  if (!longer.starts_with('{') || !shorter.ends_with(" }")) return false;
  shorter.remove_suffix(2);
  return longer.starts_with(shorter) && longer.substr(shorter.size()).starts_with(',');
}

void judgeMacros(const Description& was, const Description& now, Findings& to) {
  for (const AbiMacro& old : was.macros) {
    const AbiMacro* same = findNamed(now.macros, old.name);
    const bool type = !old.text.starts_with('{');
    if (same == nullptr) {
      to.add(Verdict::kBreaks, "macro_removed", "macro " + old.name, old.text, "",
             fmt::format("macro {} is not in the header any more", old.name), {false, false, true});
    } else if (same->text != old.text && !extends(same->text, old.text)) {
      to.add(Verdict::kBreaks, "macro_changed", "macro " + old.name, old.text, same->text,
             fmt::format("macro {} was {} and is {}", old.name, old.text, same->text), {type, type, true});
    }
  }
}

bool sameResolved(const AbiType& a, const AbiType& b) {
  return a.resolved == b.resolved;
}

bool samePrototype(const AbiFunction& a, const AbiFunction& b, bool (*equal)(const AbiType&, const AbiType&)) {
  return equal(a.result, b.result) &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(), equal);
}

// libabigail takes `const void*` for `void*`; the header's own words do not.
size_t constsIn(std::string_view text) {
  constexpr std::string_view kWord = "const ";
  size_t count = 0;
  for (size_t at = text.find(kWord); at != std::string_view::npos; at = text.find(kWord, at + 1)) ++count;
  return count;
}

void judgePrototype(const AbiFunction& old, const AbiFunction& now, Findings& to) {
  const bool both_declared = !old.declared.empty() && !now.declared.empty();
  const bool same_qualifiers = !both_declared || constsIn(old.declared) == constsIn(now.declared);
  if (samePrototype(old, now, sameResolved) && same_qualifiers) return;
  const bool qualifiers = samePrototype(old, now, sameButForQualifiers);
  // What is inline is part of the client: it goes on calling what it was compiled to call.
  const bool breaks = !qualifiers && !(old.is_inline && now.is_inline);
  to.add(qualifiers ? Verdict::kDoubtful : Verdict::kBreaks, "prototype_changed", "function " + old.name,
         prototypeText(old), prototypeText(now),
         fmt::format("{} has another prototype: it was {} and is {}", old.name, prototypeText(old), prototypeText(now)),
         {breaks, breaks, true});
}

std::string versionWords(uint32_t version) {
  return fmt::format("{}.{}", version >> 16, version & 0xffffu);
}

void judgeSchemas(const Description& was, const Description& now, Findings& to) {
  const auto find = [](const Description& in, uint32_t version) -> const AbiSchema* {
    for (const AbiSchema& schema : in.schemas) {
      if (schema.version == version) return &schema;
    }
    return nullptr;
  };
  for (const AbiSchema& old : was.schemas) {
    const std::string subject = fmt::format("request schema {}", old.version);
    const AbiSchema* same = find(now, old.version);
    if (same == nullptr) {
      to.add(Verdict::kBreaks, "schema_removed", subject, "served", "", subject + " is not served any more",
             {true, false, false});
      continue;
    }
    const auto changed = [&](const char* rule, const char* what, uint64_t before, uint64_t after) {
      to.add(Verdict::kBreaks, rule, subject, std::to_string(before), std::to_string(after),
             fmt::format("{}: {} was {} and is {}: entries of old clients are refused or cut", subject, what, before,
                         after),
             {true, false, false});
    };
    if (same->minimum_size > old.minimum_size) {
      changed("minimum_size_raised", "minimum_size", old.minimum_size, same->minimum_size);
    }
    if (same->known_size < old.known_size)
      changed("known_size_lowered", "known_size", old.known_size, same->known_size);
  }
  // An entry of the new header must be one that the new library reads to its end.
  for (const AbiSchema& schema : now.schemas) {
    const AbiStruct* entry = findNamed(now.structs, fmt::format("tent_request_v{}", schema.version));
    if (entry == nullptr || entry->size == schema.known_size) continue;
    to.add(Verdict::kBreaks, "known_size_differs", "struct " + entry->name, std::to_string(entry->size),
           std::to_string(schema.known_size),
           fmt::format("struct {} has {} bytes in the header, and the library knows {}: a new member needs a larger "
                       "known_size",
                       entry->name, entry->size, schema.known_size),
           {false, false, true});
  }
}

}  // namespace

void judgeTypedefs(const Description& was, const Description& now, std::vector<Finding>& out) {
  Findings to("types", out);
  for (const AbiTypedef& old : was.typedefs) {
    const AbiTypedef* same = findNamed(now.typedefs, old.name);
    if (same == nullptr) {
      to.add(Verdict::kBreaks, "type_removed", "type " + old.name, old.type.name, "",
             fmt::format("type {} is not in the header any more", old.name), {false, false, true});
    } else if (!sameResolved(old.type, same->type)) {
      to.add(Verdict::kBreaks, "type_changed", "type " + old.name, old.type.name, same->type.name,
             fmt::format("type {} was {} and is {}", old.name, old.type.name, same->type.name), {true, true, true});
    }
  }
}

void judgeConstants(const Description& was, const Description& now, std::vector<Finding>& out) {
  Findings to("constants", out);
  for (const AbiConstant& old : was.constants) {
    if (old.name.starts_with(kVersionConstants)) continue;
    const AbiConstant* same = findNamed(now.constants, old.name);
    if (same == nullptr) {
      to.add(Verdict::kBreaks, "constant_removed", "constant " + old.name, valueText(old), "",
             fmt::format("constant {} ({}) is not in the header any more", old.name, valueText(old)),
             {false, false, true});
    } else if (!(*same == old)) {
      to.add(Verdict::kBreaks, "constant_changed", "constant " + old.name, valueText(old), valueText(*same),
             fmt::format("constant {} was {} and is {}: who was compiled before means the old one", old.name,
                         valueText(old), valueText(*same)),
             {true, true, false});
    }
  }
  for (const AbiConstant& fresh : now.constants) {
    if (findNamed(was.constants, fresh.name) != nullptr) continue;
    to.add(Verdict::kHarmless, "constant_added", "constant " + fresh.name, "", valueText(fresh),
           fmt::format("constant {} ({}) is new", fresh.name, valueText(fresh)), {});
  }
  judgeMacros(was, now, to);
}

void judgeFunctions(const Description& was, const Description& now, std::vector<Finding>& out) {
  Findings to("functions", out);
  for (const AbiFunction& old : was.functions) {
    // Without a symbol there is no prototype in the debug information; that it is missing is told among the symbols.
    if (lacksSymbol(was, old.name) || lacksSymbol(now, old.name)) continue;
    if (const AbiFunction* same = findNamed(now.functions, old.name)) {
      judgePrototype(old, *same, to);
    } else if (old.is_inline ? now.constants_missing.empty() : findNamed(now.symbols, old.name) != nullptr) {
      to.add(Verdict::kBreaks, "declaration_removed", "function " + old.name, prototypeText(old), "",
             fmt::format("{} is not in the header any more", old.name), {false, false, true});
    }
  }
}

void judgeVersions(const Description& was, const Description& now, std::vector<Finding>& out) {
  // What a client can only use where the library is new enough. A struct alone is no use.
  const bool adds = std::any_of(out.begin(), out.end(), [](const Finding& finding) {
    const std::string_view rule = finding.rule;
    return rule == "symbol_added" || rule == "constant_added" || rule == "member_appended";
  });
  Findings to("version", out);
  if (was.api_version && !now.api_version) {
    to.add(Verdict::kBreaks, "api_version_removed", "API version", versionWords(*was.api_version), "",
           fmt::format("the library said that it has API {}, and says nothing", versionWords(*was.api_version)),
           {true, false, false});
  } else if (was.api_version && now.api_version) {
    const uint32_t before = *was.api_version;
    const uint32_t after = *now.api_version;
    const auto changed = [&](Verdict verdict, const char* rule, const char* why, Victims breaks) {
      to.add(verdict, rule, "API version", versionWords(before), versionWords(after),
             fmt::format("the API version was {} and is {}: {}", versionWords(before), versionWords(after), why),
             breaks);
    };
    if (before >> 16 != after >> 16) {
      changed(Verdict::kBreaks, "api_major_changed", "another major version promises nothing to old clients",
              {true, true, false});
    } else if (after < before) {
      changed(Verdict::kBreaks, "api_version_lowered", "clients that need the former are refused",
              {true, false, false});
    } else if (after == before && adds) {
      changed(Verdict::kDoubtful, "api_minor_not_raised", "the interface has grown, so the minor version is one more",
              {});
    }
  }
  const AbiConstant* header = findNamed(now.constants, "TENT_API_VERSION");
  if (header != nullptr && now.api_version && header->value != *now.api_version) {
    to.add(Verdict::kBreaks, "api_version_differs", "API version", versionWords(static_cast<uint32_t>(header->value)),
           versionWords(*now.api_version),
           fmt::format("the header has API {} and the library says {}",
                       versionWords(static_cast<uint32_t>(header->value)), versionWords(*now.api_version)),
           {true, false, true});
  }
  judgeSchemas(was, now, to);
}

}  // namespace tent::tool
