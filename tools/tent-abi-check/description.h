// What the interface of one library is: its symbols, its types, its constants. What two of them differ in is judged by
// judge.h; where one comes from, a library or a file, no longer matters there.
//
// Invariants: sizes and offsets are bytes. Structs, constants, macros and functions stand in the order of the header,
// members in that of their struct, symbols by name. Thread safety: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tent::tool {

struct AbiSymbol {
  std::string name;
  std::string version;     // "" none
  bool by_default = true;  // what a program that is linked now takes (name@@version)
  std::string kind;        // "function", "object"
  friend bool operator==(const AbiSymbol&, const AbiSymbol&) = default;
};

// A type as written, and what it comes to once typedefs are followed: "uint64_t" is "u64", "tent_request_t*" is
// "struct tent_request*". Equal in `resolved` is equal to every caller that was compiled already.
struct AbiType {
  std::string name;
  std::string resolved;
  friend bool operator==(const AbiType&, const AbiType&) = default;
};

struct AbiMember {
  std::string name;
  AbiType type;  // of a stripped library: as the header writes it, and not resolved ("")
  uint64_t offset = 0;
  uint64_t size = 0;
  friend bool operator==(const AbiMember&, const AbiMember&) = default;
};

struct AbiStruct {
  std::string name;
  uint64_t size = 0;
  uint64_t alignment = 0;  // 0: not known, of a library that carries no description
  std::vector<AbiMember> members;
  friend bool operator==(const AbiStruct&, const AbiStruct&) = default;
};

struct AbiTypedef {
  std::string name;
  AbiType type;
  friend bool operator==(const AbiTypedef&, const AbiTypedef&) = default;
};

struct AbiConstant {
  std::string name;
  bool negative = false;
  uint64_t value = 0;  // in two's complement
  friend bool operator==(const AbiConstant&, const AbiConstant&) = default;
};

// A macro without a value: a type's name, an initializer.
struct AbiMacro {
  std::string name;
  std::string text;
  friend bool operator==(const AbiMacro&, const AbiMacro&) = default;
};

struct AbiFunction {
  std::string name;
  bool is_inline = false;  // it has no symbol
  std::string declared;    // as the header has it, without names: "int (tent_engine_t, size_t)"; "" not known
  AbiType result;          // "" both: not analysed
  std::vector<AbiType> parameters;
  friend bool operator==(const AbiFunction&, const AbiFunction&) = default;
};

// What tent_get_request_schema_info says.
struct AbiSchema {
  uint32_t version = 0;
  uint64_t minimum_size = 0;
  uint64_t known_size = 0;
  friend bool operator==(const AbiSchema&, const AbiSchema&) = default;
};

struct Description {
  std::string soname;        // "" none
  std::string architecture;  // "x86_64"
  std::string build_id;      // hexadecimal; "" none. Tells where it comes from, and is not compared.
  std::vector<AbiSymbol> symbols;
  std::vector<AbiStruct> structs;
  std::vector<AbiTypedef> typedefs;
  std::vector<AbiConstant> constants;
  std::vector<AbiMacro> macros;
  std::vector<AbiFunction> functions;
  std::optional<uint32_t> api_version;  // nothing: a library from before v1
  std::vector<AbiSchema> schemas;

  // Parts that the library has nothing to tell about, each with why. What is missing is never taken for unchanged.
  std::string types_missing;      // "" they were read from its debug information
  std::string constants_missing;  // "" they were read from the description that it carries

  friend bool operator==(const Description&, const Description&) = default;
};

// The element of that name; nullptr none.
template <typename T>
const T* findNamed(const std::vector<T>& all, std::string_view name) {
  for (const T& one : all) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// Whether a symbol of that name must be there by what the header declares, and is not.
bool lacksSymbol(const Description& description, std::string_view name);

// "-4", "18446744073709551615".
std::string valueText(const AbiConstant& constant);
// As declared, or else as analysed: "int (tent_engine_t, size_t)".
std::string prototypeText(const AbiFunction& function);

}  // namespace tent::tool
