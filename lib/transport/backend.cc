#include "transport/backend.h"

namespace tent {

std::string_view nameOf(Aftermath aftermath) {
  switch (aftermath) {
    case Aftermath::kUntouched: return "untouched";
    case Aftermath::kSettled: return "settled";
    case Aftermath::kUnsettled: return "unsettled";
  }
  return "";
}

}  // namespace tent
