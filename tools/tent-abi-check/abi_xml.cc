// Reads the XML of libabigail as far as the installed header goes.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "tent-abi-check/abigail.h"

namespace tent::tool {
namespace {

using Node = pugi::xml_node;

// What belongs to the interface is declared here; everything else is a matter of the library or of the system.
constexpr std::string_view kHeader = "tent/transfer_engine.h";
// The types that the library's description has of its functions (lib/abi/describe.awk).
constexpr std::string_view kFunctionPrefix = "tent_abi_function_";
constexpr int kMaxDepth = 32;  // of types in types; a file that goes deeper is no header of ours

class XmlReader {
 public:
  explicit XmlReader(const pugi::xml_document& document) { index(document); }

  tl::expected<HeaderTypes, std::string> read() {
    std::stable_sort(declared_.begin(), declared_.end(), [](const Node& a, const Node& b) {
      return a.attribute("line").as_uint() < b.attribute("line").as_uint();
    });
    for (const Node& node : declared_) take(node);
    if (!error_.empty()) return tl::unexpected(error_);
    return std::move(out_);
  }

 private:
  static std::string_view nameOf(const Node& node) { return node.attribute("name").value(); }

  void index(const Node& parent) {
    for (const Node& node : parent.children()) {
      const std::string_view kind = node.name();
      if (const char* id = node.attribute("id").value(); *id != '\0') types_.emplace(id, node);
      if (kind == "abi-corpus" || kind == "abi-corpus-group" || kind == "abi-instr") index(node);
      const std::string_view file = node.attribute("filepath").value();
      const bool ours = file.ends_with(kHeader) || nameOf(node).starts_with(kFunctionPrefix);
      // Where the library describes its functions, that is the header's word, and the compiler has seen to it that the
      // definitions agree; else the definitions have to do.
      if (ours || (kind == "function-decl" && nameOf(node).starts_with("tent_"))) declared_.push_back(node);
    }
  }

  Node typeOf(const Node& node) const {
    const auto it = types_.find(node.attribute("type-id").value());
    return it == types_.end() ? Node() : it->second;
  }

  // The type as it is written, or with typedefs followed.
  std::string spell(const Node& type, bool resolve, int depth = 0) const {
    const std::string_view kind = type.name();
    const std::string name(nameOf(type));
    if (!type || depth > kMaxDepth) return "?";
    const auto inner = [&](const Node& of) { return spell(typeOf(of), resolve, depth + 1); };
    if (kind == "type-decl") return resolve ? baseName(type) : name;
    if (kind == "typedef-decl") return resolve ? inner(type) : name;
    if (kind == "class-decl") return (type.attribute("is-struct").as_bool() ? "struct " : "class ") + name;
    if (kind == "union-decl") return "union " + name;
    if (kind == "enum-decl") return "enum " + name;
    if (kind == "pointer-type-def") return inner(type) + "*";
    if (kind == "reference-type-def") return inner(type) + "&";
    if (kind == "qualified-type-def") {
      const bool pointer = std::string_view(typeOf(type).name()) == "pointer-type-def";
      std::string words;
      for (const char* word : {"const", "volatile", "restrict"}) {
        if (type.attribute(word).as_bool()) words += std::string(words.empty() ? "" : " ") + word;
      }
      return pointer ? inner(type) + " " + words : words + " " + inner(type);
    }
    if (kind == "array-type-def") {
      std::string dimensions;
      for (const Node& range : type.children("subrange")) {
        dimensions += fmt::format("[{}]", range.attribute("length").value());
      }
      return inner(type) + dimensions;
    }
    if (kind == "function-type") {
      std::string parameters;
      for (const Node& parameter : type.children("parameter")) {
        parameters += (parameters.empty() ? "" : ", ") + inner(parameter);
      }
      return fmt::format("{} ({})", inner(type.child("return")), parameters);
    }
    return "?";
  }

  // "i32", "u64", "f64": int64_t is long on one platform and long long on another, which no caller can tell.
  static std::string baseName(const Node& type) {
    const std::string name(nameOf(type));
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    const auto bits = type.attribute("size-in-bits").as_uint();
    if (name == "void" || name == "char" || has("bool") || has("Bool") || has("variadic")) return name;
    if (has("double") || has("float")) return fmt::format("f{}", bits);
    return fmt::format("{}{}", has("unsigned") ? "u" : "i", bits);
  }

  AbiType typeFrom(const Node& type) const { return {spell(type, false), spell(type, true)}; }

  uint64_t bitsOf(Node type) const {
    for (int depth = 0; depth < kMaxDepth && type; ++depth) {
      if (const auto bits = type.attribute("size-in-bits")) return bits.as_ullong();
      type = typeOf(type);
    }
    return 0;
  }

  void take(const Node& node) {
    const std::string_view kind = node.name();
    const std::string name(nameOf(node));
    if (kind == "class-decl") takeStruct(node, name);
    if (kind == "union-decl") error_ = fmt::format("union {}: this tool compares structs only", name);
    if (kind == "enum-decl") {
      for (const Node& one : node.children("enumerator")) {
        const auto value = one.attribute("value").as_llong();
        out_.enumerators.push_back({std::string(nameOf(one)), value < 0, static_cast<uint64_t>(value)});
      }
    }
    if (kind == "typedef-decl" && name.starts_with(kFunctionPrefix)) {
      takeFunction(typeOf(node), name.substr(kFunctionPrefix.size()), true);
    } else if (kind == "typedef-decl" && findNamed(out_.typedefs, name) == nullptr) {
      out_.typedefs.push_back({name, typeFrom(typeOf(node))});
    }
    if (kind == "function-decl") takeFunction(node, name, false);
  }

  void takeStruct(const Node& node, const std::string& name) {
    if (node.attribute("is-declaration-only").as_bool()) return;
    AbiStruct out{name, bitsOf(node) / 8, 0, {}};
    for (const Node& member : node.children("data-member")) {
      const Node variable = member.child("var-decl");
      const Node type = typeOf(variable);
      const uint64_t offset_bits = member.attribute("layout-offset-in-bits").as_ullong();
      if (offset_bits % 8 != 0 || nameOf(variable).empty()) {
        error_ = fmt::format("struct {}: this tool compares named members of whole bytes only", name);
        return;
      }
      out.members.push_back({std::string(nameOf(variable)), typeFrom(type), offset_bits / 8, bitsOf(type) / 8});
    }
    if (const AbiStruct* same = findNamed(out_.structs, name)) {
      if (!(*same == out)) error_ = fmt::format("struct {} is not the same in all of its sources", name);
      return;
    }
    out_.structs.push_back(std::move(out));
  }

  void takeFunction(const Node& type, const std::string& name, bool described) {
    AbiFunction out{name, false, "", typeFrom(typeOf(type.child("return"))), {}};
    for (const Node& parameter : type.children("parameter")) {
      out.parameters.push_back(parameter.attribute("is-variadic").as_bool() ? AbiType{"...", "..."}
                                                                            : typeFrom(typeOf(parameter)));
    }
    const auto it = std::find_if(out_.functions.begin(), out_.functions.end(),
                                 [&](const AbiFunction& one) { return one.name == name; });
    if (it == out_.functions.end()) {
      out_.functions.push_back(std::move(out));
    } else if (described) {
      *it = std::move(out);
    }
  }

  std::unordered_map<std::string, Node> types_;
  std::vector<Node> declared_;
  HeaderTypes out_;
  std::string error_;
};

}  // namespace

tl::expected<HeaderTypes, std::string> readAbiXml(std::string_view text) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) return tl::unexpected(fmt::format("is no XML: {} at byte {}", parsed.description(), parsed.offset));
  return XmlReader(document).read();
}

}  // namespace tent::tool
