// Where the tools are: programs called tent-NAME, beside the running executable or in PATH.
//
// The folder of the executable comes first, so that a build or an installation uses its own tools whatever PATH says.
// Empty and relative entries of PATH are not searched: what runs must not depend on where one stands.
//
// Thread safety: all functions only read the file system; they may be called at any time.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tent::tool {

// Letters, digits, '-' and '_', not beginning with '-': so a name is never a path, an option, or unfit for a terminal.
bool isToolName(std::string_view name);

// The folders to search, in order. `path` is the value of PATH.
std::vector<std::filesystem::path> toolFolders(std::string_view path);

// The program of tool `name`, or an empty path. `name` must satisfy isToolName().
std::filesystem::path findTool(const std::vector<std::filesystem::path>& folders, std::string_view name);

// The names of all tools in `folders`, sorted. Folders that cannot be read have none.
std::set<std::string> listTools(const std::vector<std::filesystem::path>& folders);

}  // namespace tent::tool
