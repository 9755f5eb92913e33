// A sysfs tree in a temporary folder, shaped and linked as the kernel does it, for tests of the probe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tent::test {

struct FakeGid {
  int index = 0;
  std::string address;  // as the kernel writes it, in full
  std::string type;     // "" leaves the type unreadable
};

struct FakeNic {
  std::string name;
  std::string pci_path;  // "" a software device, which has no device behind it
  std::string numa_node = "0";
  std::string state = "4: ACTIVE";
  std::string link_layer = "Ethernet";
  std::string rate = "400 Gb/sec (4X NDR)";
  std::string interface;      // "" none
  std::string interface_mtu;  // "" no such file
  std::vector<FakeGid> gids;
};

class FakeSysfs {
 public:
  FakeSysfs();
  ~FakeSysfs();
  FakeSysfs(const FakeSysfs&) = delete;
  FakeSysfs& operator=(const FakeSysfs&) = delete;

  std::string root() const { return root_.string(); }
  std::filesystem::path at(std::string_view path) const { return root_ / path; }

  // Makes what is missing of the folders above.
  void folder(std::string_view path);
  void file(std::string_view path, std::string_view content);
  void link(std::string_view path, std::string_view target);  // `target` is below the root too; the link is relative

  void nic(const FakeNic& nic);
  void gpu(std::string_view pci_path, std::string_view numa_node, std::string_view pci_class = "0x030200");
  void numaNode(int node);

 private:
  std::filesystem::path root_;
};

}  // namespace tent::test
