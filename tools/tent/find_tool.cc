#include "find_tool.h"

#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace tent::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tent-";

// Not std::isalnum: it asks the locale.
bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool isProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

bool isToolName(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), isNameCharacter);
}

std::vector<fs::path> toolFolders(std::string_view path) {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(self.parent_path());
  while (!path.empty()) {
    const size_t colon = std::min(path.find(':'), path.size());
    const fs::path folder = path.substr(0, colon);
    if (folder.is_absolute()) folders.push_back(folder);
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return folders;
}

fs::path findTool(const std::vector<fs::path>& folders, std::string_view name) {
  const std::string program = std::string(kPrefix).append(name);
  for (const fs::path& folder : folders) {
    if (fs::path candidate = folder / program; isProgram(candidate)) return candidate;
  }
  return {};
}

std::set<std::string> listTools(const std::vector<fs::path>& folders) {
  std::set<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      const std::string file = entry->path().filename().string();
      if (!file.starts_with(kPrefix)) continue;
      const std::string name = file.substr(kPrefix.size());
      if (isToolName(name) && isProgram(entry->path())) names.insert(name);
    }
  }
  return names;
}

}  // namespace tent::tool
