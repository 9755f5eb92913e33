// The command line of tent-submit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/options.h"
#include "config/engine_config.h"
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

  // ---- both
  std::string token_file;  // "" as the configuration says

  // ---- --serve
  bool serve = false;
  std::string bind;     // "": as the configuration says
  std::string segment;  // "" its address
  uint64_t size = 64u << 20;
  // Of a target that another tent-submit has started:
  bool until_stdin_ends = false;
  bool without_token = false;
  std::optional<uint64_t> staging_chunk;  // bytes
  std::optional<uint32_t> staging_buffers;
};

void addOptions(CLI::App& app, Options& options);

// Puts what the options say about the token over the configuration's `auth`.
void applyToken(const Options& options, AuthSettings& auth);

// What is wrong with the options as a whole; "" nothing.
std::string conflictOf(const Options& options);

}  // namespace tent::tool
