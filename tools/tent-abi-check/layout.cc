// layout: sizes and offsets, as a person looks them up.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "common/exit_code.h"
#include "tent-abi-check/carried.h"
#include "tent-abi-check/commands.h"
#include "tent-abi-check/description_json.h"
#include "tent-abi-check/elf_file.h"

namespace tent::tool {
namespace {

void addStruct(std::string& out, const AbiStruct& one) {
  out += fmt::format("struct {}: {} bytes, aligned to {}\n", escapeForTerminal(one.name), one.size, one.alignment);
  size_t width = 0;
  for (const AbiMember& member : one.members) width = std::max(width, member.name.size());
  out += fmt::format("  {:>6}  {:>5}  {:<{}}  type\n", "offset", "bytes", "member", std::max<size_t>(width, 6));
  uint64_t end = 0;
  const auto pad = [&](uint64_t to) {
    if (to > end) out += fmt::format("  {:>6}  {:>5}  (padding)\n", end, to - end);
  };
  for (const AbiMember& member : one.members) {
    pad(member.offset);
    out += fmt::format("  {:>6}  {:>5}  {:<{}}  {}\n", member.offset, member.size, escapeForTerminal(member.name),
                       std::max<size_t>(width, 6), escapeForTerminal(member.type.name));
    end = member.offset + member.size;
  }
  pad(one.size);
}

std::string layoutText(const Description& description, bool with_constants) {
  std::string out;
  for (const AbiStruct& one : description.structs) {
    if (!out.empty()) out += '\n';
    addStruct(out, one);
  }
  for (const AbiSchema& schema : description.schemas) {
    out += fmt::format("\nrequest schema {}: {} to {} bytes\n", schema.version, schema.minimum_size, schema.known_size);
  }
  if (with_constants) {
    out += '\n';
    for (const AbiConstant& constant : description.constants) {
      out += fmt::format("{} = {}\n", escapeForTerminal(constant.name), valueText(constant));
    }
  }
  return out;
}

}  // namespace

int printLayout(const Options& options, Output& output) {
  Description description = ownLayout();
  if (options.library.empty()) {
    description.architecture = "this tool's";
    description.types_missing = "read from the header that the tool was built with";
  } else {
    auto loaded = loadDescription(options.library, options.analysis());
    if (!loaded) return refuse(loaded.error());
    description = *std::move(loaded);
  }
  if (description.structs.empty()) {
    return refuse({kExitInput, fmt::format("{} tells no layout: {}", escapeForTerminal(options.library),
                                           description.types_missing)});
  }
  if (options.format == ReportFormat::kJunit || options.format == ReportFormat::kGithub) {
    return refuseCommandLine("tent-abi-check", "a layout is printed as text or json");
  }
  output.buffer() += options.format == ReportFormat::kJson ? descriptionText(description)
                                                           : layoutText(description, options.common.verbose);
  return kExitOk;
}

}  // namespace tent::tool
