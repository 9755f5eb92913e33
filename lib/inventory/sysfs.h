// Reading a sysfs tree, the kernel's or one that a test built, without trusting it: whatever is missing, unreadable or
// garbage gives nothing. Private to lib/inventory.
//
// Thread safety: none of these keeps state; the tree may change while they read. None throws, but for want of memory.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tent::sysfs {

// The first line of an attribute, without surrounding space; nothing when it cannot be read. Attributes that the kernel
// answers with an error (the type of an unused GID) cannot be read either.
std::optional<std::string> readLine(const std::filesystem::path& file);

// The number that an attribute consists of.
std::optional<int> readInteger(const std::filesystem::path& file);

// The decimal number that `text` is, or that it starts with.
std::optional<int> integerOf(std::string_view text);
std::optional<double> leadingNumberOf(std::string_view text);

// The names in a folder, in no order that means anything but the same each time; nothing when it is no readable folder.
std::optional<std::vector<std::string>> list(const std::filesystem::path& folder);

// N of each entry named `prefix`N, ascending; entries with other names are not looked at.
std::vector<int> listNumbers(const std::filesystem::path& folder, std::string_view prefix = "");

// The PCI bridges down to a device and the device itself, root first ("pci0000:15/0000:15:01.0/0000:16:00.0"), of the
// folder that `device` links to; "" when it is not a PCI device, or not there.
std::string pciPathOf(const std::filesystem::path& device);

// The NUMA node of a device; nothing where the kernel says -1 (no node) or nothing.
std::optional<int> numaNodeOf(const std::filesystem::path& device);

// Text of the tree for a note: safe for a terminal, of bounded length; the second also in quotes.
std::string printable(std::string_view text);
std::string quoted(std::string_view text);

}  // namespace tent::sysfs
