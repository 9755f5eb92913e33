#include "base/system_error.h"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace tent {
namespace {

std::string_view whatToRaise(int error) {
  switch (error) {
    case EMFILE: return ": raise the limit of this process (ulimit -n)";
    case ENFILE: return ": raise the limit of the machine (sysctl fs.file-max), or end what keeps many files open";
    case ENOMEM:
    case ENOBUFS: return ": free memory, or raise the memory limit of the process or its container";
    default: return "";
  }
}

}  // namespace

bool isExhaustion(int error) {
  return !whatToRaise(error).empty();
}

std::string describeSystemError(int error) {
  return fmt::format("{}{}", std::generic_category().message(error), whatToRaise(error));
}

Error errorOfSystem(Reason otherwise, std::string_view what, int error) {
  return errorOf(isExhaustion(error) ? Reason::kResourceExhausted : otherwise,
                 fmt::format("{}: {}", what, describeSystemError(error)));
}

}  // namespace tent
