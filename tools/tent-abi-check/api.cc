#include "tent-abi-check/api.h"

#include <dlfcn.h>

namespace tent::tool {
namespace {

template <typename Function>
void load(void* library, const char* name, Function& function, std::vector<std::string>& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) missing.emplace_back(name);
}

}  // namespace

Api loadApi(const std::string& path) {
  Api api;
  api.library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (api.library == nullptr) {
    api.error = dlerror();
    return api;
  }
#define X(name) load(api.library, #name, api.name, api.missing_legacy);
  TENT_LEGACY_FUNCTIONS(X)
#undef X
#define X(name) load(api.library, #name, api.name, api.missing_v1);
  TENT_V1_FUNCTIONS(X)
#undef X
  return api;
}

}  // namespace tent::tool
