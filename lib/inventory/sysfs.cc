#include "inventory/sysfs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <system_error>

#include "base/text.h"

namespace tent::sysfs {
namespace {

namespace fs = std::filesystem;

// No attribute is longer than a page; what is, is not one.
constexpr size_t kMaxAttributeBytes = 4096;
constexpr size_t kMaxPrintedBytes = 60;

// "pci0000:15", the root of a PCI hierarchy, and nothing like "pci-bridge".
bool isPciRoot(std::string_view component) {
  if (!component.starts_with("pci")) return false;
  const std::string_view address = component.substr(3);
  return address.find(':') != std::string_view::npos &&
         std::all_of(address.begin(), address.end(), [](unsigned char c) { return c == ':' || std::isxdigit(c) != 0; });
}

}  // namespace

std::optional<std::string> readLine(const fs::path& file) {
  std::error_code error;
  // Not only folders: opening a FIFO would block.
  if (!fs::is_regular_file(file, error) || error) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::array<char, kMaxAttributeBytes> buffer{};
  in.read(buffer.data(), buffer.size());
  if (in.fail() && !in.eof()) return std::nullopt;  // shorter than the buffer, as it should be, is both
  const std::string_view text(buffer.data(), static_cast<size_t>(in.gcount()));
  return std::string(trimAscii(text.substr(0, text.find('\n'))));
}

std::optional<int> integerOf(std::string_view text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> leadingNumberOf(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  // "nan" and "inf" are numbers to from_chars, but not to anyone who compares speeds.
  if (error != std::errc{} || !(number >= 0 && number < 1e9)) return std::nullopt;
  return number;
}

std::optional<int> readInteger(const fs::path& file) {
  const std::optional<std::string> line = readLine(file);
  return line ? integerOf(*line) : std::nullopt;
}

std::optional<std::vector<std::string>> list(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error) return std::nullopt;
  std::vector<std::string> names;
  for (; entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<int> listNumbers(const fs::path& folder, std::string_view prefix) {
  std::vector<int> numbers;
  for (const std::string& name : list(folder).value_or(std::vector<std::string>{})) {
    if (!name.starts_with(prefix)) continue;
    const std::optional<int> number = integerOf(std::string_view(name).substr(prefix.size()));
    if (number && *number >= 0) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());  // "01" beside "1"
  return numbers;
}

std::string pciPathOf(const fs::path& device) {
  std::error_code error;
  const fs::path real = fs::canonical(device, error);
  if (error) return "";
  auto root = std::find_if(real.begin(), real.end(), [](const fs::path& part) { return isPciRoot(part.native()); });
  std::string path;
  for (auto part = root; part != real.end(); ++part) {
    if (!path.empty()) path += '/';
    path += part->native();
  }
  return path;
}

std::optional<int> numaNodeOf(const fs::path& device) {
  const std::optional<int> node = readInteger(device / "numa_node");
  return node && *node >= 0 ? node : std::nullopt;
}

std::string printable(std::string_view text) {
  std::string safe = escapeForTerminal(text.substr(0, kMaxPrintedBytes));
  if (text.size() > kMaxPrintedBytes) safe += "...";
  return safe;
}

std::string quoted(std::string_view text) {
  return '"' + printable(text) + '"';
}

}  // namespace tent::sysfs
