// The sockets that this process has open, and how many of them a program that it starts would inherit.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace tent {

struct OpenSockets {
  int count = 0;
  int inherited = 0;
};

inline OpenSockets openSockets() {
  OpenSockets sockets;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (!std::filesystem::read_symlink(entry.path(), gone).string().starts_with("socket:")) continue;
    const std::string name = entry.path().filename().string();
    if (std::stoi(name) <= STDERR_FILENO) continue;
    // Read rather than asked of the descriptor, which is another thread's.
    std::ifstream info("/proc/self/fdinfo/" + name);
    for (std::string word; info >> word && word != "flags:";) {
    }
    int flags = 0;
    info >> std::oct >> flags;
    ++sockets.count;
    if ((flags & O_CLOEXEC) == 0) ++sockets.inherited;
  }
  return sockets;
}

}  // namespace tent
