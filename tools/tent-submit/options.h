// The command line of tent-submit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/options.h"
#include "intent/values.h"
#include "tent-submit/peers.h"

// The command-line parser, which few files need whole.
namespace CLI {
class App;
}

namespace tent::tool {

struct Options {
  CommonOptions common;

  // ---- running a file
  std::string file;  // "" none
  bool loopback = false;
  std::vector<PeerAddress> peers;
  bool dry_run = false;
  bool verify = true;
  Transport required = Transport::kUnspec;  // kUnspec: any
  std::optional<uint64_t> timeout_ns;
  std::string metrics_path;  // "" none

  // ---- --serve
  bool serve = false;
  std::string bind;     // "": as the configuration says
  std::string segment;  // "" its address
  uint64_t size = 64u << 20;
  bool until_stdin_ends = false;  // of a target that another tent-submit has started
};

void addOptions(CLI::App& app, Options& options);

// What is wrong with the options as a whole; "" nothing.
std::string conflictOf(const Options& options);

}  // namespace tent::tool
