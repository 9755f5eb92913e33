#include "tent-submit/options.h"

#include <algorithm>
#include <set>
#include <span>

#include <CLI/CLI.hpp>

#include "base/units.h"
#include "engine/address.h"

namespace tent::tool {
namespace {

uint64_t positive(const std::string& option, const tl::expected<uint64_t, std::string>& value) {
  if (!value) throw CLI::ValidationError(option, value.error());
  if (*value == 0) throw CLI::ValidationError(option, "must be more than 0");
  return *value;
}

std::string checkBind(const std::string& text) {
  return parseAddress(text) ? "" : "must be ADDR:PORT (port 0: any free one; IPv6 addresses in brackets), is " + text;
}

// A name stands before a "=" in the other side's --peer, and in what the tools print.
std::string checkSegment(const std::string& text) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '='; });
  return !text.empty() && printable ? "" : "must be printable ASCII without spaces and '='";
}

void addRunOptions(CLI::App& app, Options& options) {
  app.add_option("FILE", options.file, "Intent vectors: a document or NDJSON; - is standard input")->type_name("");
  app.add_flag("--loopback", options.loopback, "Run against a target of its own, a second process (the default)");
  app.add_option_function<std::vector<std::string>>(
         "--peer",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             auto peer = parsePeer(text);
             if (!peer) throw CLI::ValidationError("--peer", peer.error());
             options.peers.push_back(*std::move(peer));
           }
         },
         "Where vectors without a segment go, or those whose segment is NAME; may be repeated")
      ->type_name("[NAME=]HOST:PORT")
      ->allow_extra_args(false);
  app.add_flag("--dry-run", options.dry_run, "Everything up to the plans; no byte moves");
  app.add_flag_callback(
      "--no-verify", [&options] { options.verify = false; }, "Do not compare checksums at the destination");
  const std::span<const std::string_view> names = namesOf<Transport>().subspan(1);
  app.add_option_function<std::string>(
         "--require", [&options](const std::string& name) { options.required = *valueOfName<Transport>(name); },
         "Fail instead of running over another transport")
      ->check(CLI::IsMember(std::set<std::string>(names.begin(), names.end())))
      ->type_name("TRANSPORT");
  app.add_option_function<std::string>(
         "--timeout",
         [&options](const std::string& text) { options.timeout_ns = positive("--timeout", parseDuration(text)); },
         "Give up what has not ended after this time (5s, 2min)")
      ->type_name("DURATION");
  app.add_option("--metrics", options.metrics_path, "Write counters in the Prometheus text format")
      ->check([](const std::string& path) { return path.empty() ? "must name a file" : ""; })
      ->type_name("FILE");
}

void addServeOptions(CLI::App& app, Options& options) {
  auto* serve = app.add_flag("--serve", options.serve, "Be a target for others, until interrupted");
  app.add_option("--bind", options.bind, "Where to listen (default: as configured, else any free port of 127.0.0.1)")
      ->check(checkBind)
      ->type_name("ADDR:PORT")
      ->needs(serve);
  app.add_option("--segment", options.segment, "What the target calls itself (default: its address)")
      ->check(checkSegment)
      ->type_name("NAME")
      ->needs(serve);
  app.add_option_function<std::string>(
         "--size", [&options](const std::string& text) { options.size = positive("--size", parseSize(text)); },
         "Bytes of each of its two buffers (default 64MiB)")
      ->type_name("BYTES")
      ->needs(serve);
  app.add_flag("--until-stdin-ends", options.until_stdin_ends)->needs(serve)->group("");
  app.add_flag("--without-token", options.without_token)->needs(serve)->group("");
  app.add_option("--staging-chunk", options.staging_chunk)->needs(serve)->group("");
  app.add_option("--staging-buffers", options.staging_buffers)->needs(serve)->group("");
}

}  // namespace

void addOptions(CLI::App& app, Options& options) {
  addRunOptions(app, options);
  addServeOptions(app, options);
  app.add_option("--token-file", options.token_file,
                 "What both sides must have a copy of (default: as configured, else the user's own)")
      ->check([](const std::string& path) { return path.empty() ? "must name a file" : ""; })
      ->type_name("FILE");
}

void applyToken(const Options& options, AuthSettings& auth) {
  if (options.without_token) auth.mode = AuthSettings::Mode::kNone;
  if (options.token_file.empty()) return;
  auth.mode = AuthSettings::Mode::kToken;
  auth.token_file = options.token_file;
}

std::string conflictOf(const Options& options) {
  if (options.serve) {
    const bool runs = !options.file.empty() || options.loopback || !options.peers.empty() || options.dry_run ||
                      !options.verify || options.required != Transport::kUnspec || options.timeout_ns ||
                      !options.metrics_path.empty();
    return runs ? "--serve takes no file and none of the options for running one" : "";
  }
  if (options.file.empty()) return "no file is given; - reads standard input";
  if (options.loopback && !options.peers.empty()) return "--loopback and --peer exclude each other";
  if (options.file == "-" && options.common.config_path == "-") return "standard input (-) can be read only once";
  std::set<std::string_view> names;
  for (const PeerAddress& peer : options.peers) {
    if (names.insert(peer.name).second) continue;
    return peer.name.empty() ? "--peer without a name is given twice; give one a name: --peer NAME=" + peer.address
                             : "--peer " + peer.name + "= is given twice";
  }
  return "";
}

}  // namespace tent::tool
