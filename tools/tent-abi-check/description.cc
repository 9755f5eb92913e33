#include "tent-abi-check/description.h"

namespace tent::tool {

bool lacksSymbol(const Description& description, std::string_view name) {
  const AbiFunction* declared = findNamed(description.functions, name);
  return declared != nullptr && !declared->is_inline && findNamed(description.symbols, name) == nullptr;
}

std::string valueText(const AbiConstant& constant) {
  return constant.negative ? std::to_string(static_cast<int64_t>(constant.value)) : std::to_string(constant.value);
}

std::string prototypeText(const AbiFunction& function) {
  if (!function.declared.empty()) return function.declared;
  std::string text = function.result.name + " (";
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    text += (i == 0 ? "" : ", ") + function.parameters[i].name;
  }
  return text + ")";
}

}  // namespace tent::tool
