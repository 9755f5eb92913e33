#include "tent-abi-check/carried.h"

#include <bit>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "abi/description.h"
#include "base/text.h"

// In this program by the same object that is in libtent.so.
extern "C" const tent_abi_description_header
    tent_abi_description;  // NOLINT(readability-identifier-naming): a name of C

namespace tent::tool {
namespace {

struct Numbers {
  uint64_t first;
  uint64_t second;
};

// The first word of `text`, which is then without it.
std::string_view takeWord(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

bool takeFact(std::string_view line, Numbers numbers, Description& out) {
  const std::string_view kind = takeWord(line);
  const std::string name(takeWord(line));
  if (name.empty()) return false;
  if (kind == "constant") {
    out.constants.push_back({name, numbers.second != 0, numbers.first});
  } else if (kind == "macro") {
    out.macros.push_back({name, std::string(line)});
  } else if (kind == "struct") {
    out.structs.push_back({name, numbers.first, numbers.second, {}});
  } else if (kind == "member") {
    if (out.structs.empty() || out.structs.back().name != name) return false;
    const std::string member(takeWord(line));
    out.structs.back().members.push_back({member, {std::string(line), ""}, numbers.first, numbers.second});
  } else if (kind == "function" || kind == "inline") {
    out.functions.push_back({name, kind == "inline", std::string(line), {}, {}});
  } else {
    return false;
  }
  return true;
}

std::string readBytes(std::string_view bytes, bool other_order, Description& out) {
  tent_abi_description_header header{};
  if (bytes.size() < sizeof header) return "is truncated";
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != TENT_ABI_DESCRIPTION_MAGIC) {
    return "is of a version that this tool does not know";
  }
  if (other_order) return "has another byte order than this tool's machine";
  const size_t numbers_bytes = size_t{header.count} * sizeof(Numbers);
  bytes.remove_prefix(sizeof header);
  if (bytes.size() < numbers_bytes || bytes.size() - numbers_bytes < header.text_bytes || header.text_bytes == 0) {
    return "is truncated";
  }
  std::string_view text = bytes.substr(numbers_bytes, header.text_bytes - 1);
  for (uint32_t i = 0; i < header.count; ++i) {
    Numbers numbers{};
    std::memcpy(&numbers, bytes.data() + size_t{i} * sizeof numbers, sizeof numbers);
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return fmt::format("has numbers for {} facts, and {} lines", header.count, i);
    const std::string_view line = text.substr(0, end);
    if (!takeFact(line, numbers, out)) {
      return fmt::format("has a line that is none: \"{}\"", shorten(escapeForTerminal(line), 100));
    }
    text.remove_prefix(end + 1);
  }
  return text.empty() ? "" : "has more lines than numbers";
}

}  // namespace

std::string readCarried(const ElfFile& library, Description& description) {
  const bool own_order = library.big_endian == (std::endian::native == std::endian::big);
  const std::string wrong = readBytes(library.description, !own_order, description);
  return wrong.empty() ? ""
                       : fmt::format("the description that it carries ({}) {}", TENT_ABI_DESCRIPTION_SECTION, wrong);
}

Description ownLayout() {
  const auto* const start = reinterpret_cast<const char*>(&tent_abi_description);
  const size_t bytes = sizeof tent_abi_description + size_t{tent_abi_description.count} * sizeof(Numbers) +
                       tent_abi_description.text_bytes;
  Description out;
  if (!readBytes({start, bytes}, false, out).empty()) return {};
  return out;
}

}  // namespace tent::tool
