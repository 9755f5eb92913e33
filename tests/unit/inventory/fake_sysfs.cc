#include "unit/inventory/fake_sysfs.h"

#include <stdlib.h>

#include <fstream>
#include <stdexcept>
#include <system_error>

namespace tent::test {

namespace fs = std::filesystem;

FakeSysfs::FakeSysfs() {
  std::string pattern = (fs::temp_directory_path() / "tent-sysfs-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed for " + pattern);
  root_ = pattern;
}

FakeSysfs::~FakeSysfs() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void FakeSysfs::folder(std::string_view path) {
  fs::create_directories(at(path));
}

void FakeSysfs::file(std::string_view path, std::string_view content) {
  fs::create_directories(at(path).parent_path());
  std::ofstream(at(path), std::ios::binary) << content;
}

void FakeSysfs::link(std::string_view path, std::string_view target) {
  fs::create_directories(at(path).parent_path());
  fs::create_symlink(at(target).lexically_relative(at(path).parent_path()), at(path));
}

void FakeSysfs::nic(const FakeNic& nic) {
  const bool software = nic.pci_path.empty();
  const std::string device = "devices/" + (software ? "virtual" : nic.pci_path);
  const std::string own = device + "/infiniband/" + nic.name;
  const std::string port = own + "/ports/1";
  file(port + "/state", nic.state + "\n");
  file(port + "/link_layer", nic.link_layer + "\n");
  file(port + "/rate", nic.rate + "\n");
  folder(port + "/gids");
  for (const FakeGid& gid : nic.gids) {
    const std::string index = std::to_string(gid.index);
    file(port + "/gids/" + index, gid.address + "\n");
    if (!gid.type.empty()) file(port + "/gid_attrs/types/" + index, gid.type + "\n");
    if (!nic.interface.empty()) file(port + "/gid_attrs/ndevs/" + index, nic.interface + "\n");
  }
  link("class/infiniband/" + nic.name, own);
  if (!software) {
    file(device + "/numa_node", nic.numa_node + "\n");
    link(own + "/device", device);
  }
  if (!nic.interface.empty() && !nic.interface_mtu.empty()) {
    file(device + "/net/" + nic.interface + "/mtu", nic.interface_mtu + "\n");
    link("class/net/" + nic.interface, device + "/net/" + nic.interface);
  }
}

void FakeSysfs::gpu(std::string_view pci_path, std::string_view numa_node, std::string_view pci_class) {
  const std::string device = "devices/" + std::string(pci_path);
  file(device + "/numa_node", std::string(numa_node) + "\n");
  file(device + "/class", std::string(pci_class) + "\n");
  link("bus/pci/drivers/nvidia/" + fs::path(pci_path).filename().string(), device);
}

void FakeSysfs::numaNode(int node) {
  file("devices/system/node/node" + std::to_string(node) + "/cpulist", "0-55\n");
}

}  // namespace tent::test
