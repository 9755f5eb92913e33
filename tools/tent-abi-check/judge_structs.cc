// Structs and their members. A struct that begins with struct_size is append-only (convention 4 of the header); every
// other one is as it is for ever, since its callers have compiled its size in.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tent-abi-check/judge.h"

namespace tent::tool {
namespace {

bool isAppendOnly(const AbiStruct& one) {
  return !one.members.empty() && one.members.front().name == "struct_size";
}

uint64_t endOfMembers(const AbiStruct& one) {
  uint64_t end = 0;
  for (const AbiMember& member : one.members) end = std::max(end, member.offset + member.size);
  return end;
}

bool sameType(const AbiMember& a, const AbiMember& b) {
  return a.size == b.size && (a.type.resolved == b.type.resolved || a.type.resolved.empty() || b.type.resolved.empty());
}

class StructJudge {
 public:
  StructJudge(const AbiStruct& was, const AbiStruct& now, bool with_types, std::vector<Finding>& out)
      : was_(was), now_(now), with_types_(with_types), out_(out) {}

  void judgeAll() {
    const size_t before = out_.size();
    for (const AbiMember& member : was_.members) judgeOld(member);
    bool appended = false;
    for (const AbiMember& member : now_.members) {
      if (findNamed(was_.members, member.name) != nullptr || renamed_.contains(member.name)) continue;
      appended = judgeNew(member) || appended;
    }
    if (was_.alignment != 0 && now_.alignment != 0 && was_.alignment != now_.alignment) {
      add(Verdict::kBreaks, "struct_realigned", "", fmt::format("{} bytes", was_.alignment),
          fmt::format("{} bytes", now_.alignment),
          fmt::format("struct {} was aligned to {} bytes and is to {}", was_.name, was_.alignment, now_.alignment),
          {true, true, false});
    }
    // A size that nothing above explains: padding, packing.
    if (was_.size != now_.size && !appended && out_.size() == before) {
      add(Verdict::kBreaks, "struct_resized", "", fmt::format("{} bytes", was_.size),
          fmt::format("{} bytes", now_.size),
          fmt::format("struct {} had {} bytes and has {}", was_.name, was_.size, now_.size), {true, true, false});
    }
  }

 private:
  void add(Verdict verdict, const char* rule, const std::string& member, std::string was, std::string now,
           std::string sentence, Victims breaks) {
    std::string subject = "struct " + was_.name + (member.empty() ? "" : ", member " + member);
    out_.push_back(
        {verdict, rule, "structs", std::move(subject), std::move(was), std::move(now), std::move(sentence), breaks});
  }

  std::string placeOf(const AbiMember& member) const {
    return fmt::format("{} at {}, {} bytes", member.type.name, member.offset, member.size);
  }

  void judgeOld(const AbiMember& old) {
    const AbiMember* const same = findNamed(now_.members, old.name);
    if (same == nullptr) {
      judgeGone(old);
      return;
    }
    const auto of = [&](const char* what) { return fmt::format("struct {}, member {} {}", was_.name, old.name, what); };
    if (old.size != same->size) {
      add(Verdict::kBreaks, "member_resized", old.name, placeOf(old), placeOf(*same),
          of("is resized: ") + fmt::format("it was {} with {} bytes and is {} with {}", old.type.name, old.size,
                                           same->type.name, same->size),
          {true, true, true});
    } else if (with_types_ && !sameType(old, *same)) {
      const bool qualifiers = sameButForQualifiers(old.type, same->type);
      add(qualifiers ? Verdict::kDoubtful : Verdict::kBreaks, "member_type_changed", old.name, old.type.name,
          same->type.name,
          of("has another type: ") + fmt::format("it was {} and is {}", old.type.name, same->type.name),
          {!qualifiers, !qualifiers, true});
    }
    if (old.offset != same->offset) {
      const bool reordered = isReordered(old);
      add(Verdict::kBreaks, reordered ? "member_reordered" : "member_moved", old.name,
          fmt::format("offset {}", old.offset), fmt::format("offset {}", same->offset),
          of(reordered ? "is reordered: " : "has moved: ") +
              fmt::format("it was at offset {} and is at {}", old.offset, same->offset),
          {true, true, false});
    }
  }

  // Whether the member has passed another one, and was not only pushed along.
  bool isReordered(const AbiMember& old) const {
    const AbiMember* const here = findNamed(now_.members, old.name);
    return std::any_of(was_.members.begin(), was_.members.end(), [&](const AbiMember& other) {
      const AbiMember* const there = findNamed(now_.members, other.name);
      return there != nullptr && (old.offset < other.offset) != (here->offset < there->offset) && &other != &old;
    });
  }

  void judgeGone(const AbiMember& old) {
    const auto heir = std::find_if(now_.members.begin(), now_.members.end(), [&](const AbiMember& one) {
      return one.offset == old.offset && sameType(one, old) && findNamed(was_.members, one.name) == nullptr;
    });
    if (heir == now_.members.end()) {
      add(Verdict::kBreaks, "member_removed", old.name, placeOf(old), "",
          fmt::format("struct {}, member {} ({}) is removed", was_.name, old.name, placeOf(old)), {true, true, true});
      return;
    }
    renamed_.insert(heir->name);
    add(Verdict::kBreaks, "member_renamed", old.name, old.name, heir->name,
        fmt::format("struct {}, member {} is renamed: it is {} now", was_.name, old.name, heir->name),
        {false, false, true});
  }

  // True where it explains that the struct has grown.
  bool judgeNew(const AbiMember& fresh) {
    const auto is = [&](const char* what) {
      return fmt::format("struct {}, member {} ({}) {}", was_.name, fresh.name, placeOf(fresh), what);
    };
    if (fresh.offset < endOfMembers(was_)) {
      add(Verdict::kBreaks, "member_inserted", fresh.name, "", placeOf(fresh),
          is("is inserted before others: new members go to the end"), {true, true, true});
      return false;
    }
    if (fresh.offset < was_.size) {
      add(Verdict::kBreaks, "member_in_padding", fresh.name, "", placeOf(fresh),
          is("lies in what was padding: old clients leave anything there"), {true, false, false});
      return false;
    }
    if (!isAppendOnly(was_)) {
      add(Verdict::kBreaks, "member_appended_to_fixed_struct", fresh.name, "", placeOf(fresh),
          is(fmt::format("is appended to a struct of fixed size: old clients have {} bytes for it", was_.size).c_str()),
          {true, true, false});
      return true;
    }
    add(Verdict::kHarmless, "member_appended", fresh.name, "", placeOf(fresh),
        is("is appended, and struct_size tells who has it"), {});
    return true;
  }

  const AbiStruct& was_;
  const AbiStruct& now_;
  bool with_types_;
  std::set<std::string> renamed_;  // the new names
  std::vector<Finding>& out_;
};

}  // namespace

void judgeStructs(const Description& was, const Description& now, bool with_types, std::vector<Finding>& out) {
  for (const AbiStruct& old : was.structs) {
    if (const AbiStruct* same = findNamed(now.structs, old.name)) {
      StructJudge(old, *same, with_types, out).judgeAll();
    } else {
      out.push_back({Verdict::kBreaks,
                     "struct_removed",
                     "structs",
                     "struct " + old.name,
                     fmt::format("{} bytes", old.size),
                     "",
                     fmt::format("struct {} is not in the header any more", old.name),
                     {false, false, true}});
    }
  }
  for (const AbiStruct& fresh : now.structs) {
    if (findNamed(was.structs, fresh.name) != nullptr) continue;
    out.push_back({Verdict::kHarmless,
                   "struct_added",
                   "structs",
                   "struct " + fresh.name,
                   "",
                   fmt::format("{} bytes", fresh.size),
                   fmt::format("struct {} is new", fresh.name),
                   {}});
  }
}

}  // namespace tent::tool
