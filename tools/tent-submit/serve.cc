#include "tent-submit/serve.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "common/exit_code.h"
#include "common/interrupt.h"
#include "common/load.h"
#include "engine/address.h"
#include "engine/engine.h"
#include "report/json_writer.h"
#include "tent-submit/mapping.h"
#include "tent-submit/pattern.h"

namespace tent::tool {
namespace {

constexpr uint64_t kPatternSeed = 0x7365727665;

// One buffer that the application owns and one that the engine allocated, so that vectors of both kinds find theirs.
// Destroyed after the engine.
struct Target {
  Mapping application;
  std::unique_ptr<Engine> engine;
};

std::string offer(Target& target, uint64_t bytes) {
  const MemoryOptions options{MemoryLocation{}, Permission::kGlobalReadWrite};
  auto mapping = Mapping::make(bytes);
  if (!mapping) {
    return fmt::format("there is no memory of {}: {}; give a smaller --size", formatSize(bytes),
                       std::generic_category().message(errno));
  }
  target.application = *std::move(mapping);
  fillPattern(target.application.memory(), kPatternSeed);
  if (Error error = target.engine->registerMemory(target.application.memory().data(), bytes, options)) {
    return messageOf(error);
  }
  const auto allocated = target.engine->allocateMemory(bytes, options);
  if (!allocated) return fmt::format("{}; give a smaller --size", messageOf(allocated.error()));
  fillPattern({static_cast<std::byte*>(*allocated), bytes}, ~kPatternSeed);
  return "";
}

void writeReadyObject(std::string& out, const Engine& engine, uint64_t bytes) {
  JsonWriter json(out);
  json.beginObject();
  json.field("segment", engine.segmentName());
  json.field("address", engine.address());
  json.field("pid", uint64_t(getpid()));
  json.key("buffers");
  json.beginArray();
  for (const Registration registration : {Registration::kApplication, Registration::kAllocated}) {
    json.beginObject();
    json.field("registration", nameOf(registration));
    json.field("memory", toString(MemoryLocation{}));
    json.field("length", bytes);
    json.field("permission", nameOf(Permission::kGlobalReadWrite));
    json.endObject();
  }
  json.endArray();
  json.endObject();
  out += '\n';
}

std::string readyText(const Engine& engine, const Options& options) {
  const std::string name = escapeForTerminal(engine.segmentName());
  const std::string given = options.segment.empty() ? engine.address() : fmt::format("{}={}", name, engine.address());
  const std::string token =
      options.token_file.empty() ? "" : fmt::format("--token-file {} ", escapeForTerminal(options.token_file));
  return fmt::format(
      "serving {} of application memory and as much of allocated memory at {}, as segment {}\n"
      "run a file against it: tent-submit {}--peer {} FILE\n",
      formatSize(options.size), engine.address(), name, token, given);
}

void appendServed(std::string& out, const EngineMetrics& metrics, bool json_format) {
  if (!json_format) {
    for (const auto& transport : metrics.transports) {
      out += fmt::format("served over {}: {} read, {} written\n", nameOf(transport.transport),
                         formatSize(transport.traffic.served_read_bytes),
                         formatSize(transport.traffic.served_written_bytes));
    }
    return;
  }
  JsonWriter json(out);
  json.beginObject();
  json.key("served");
  json.beginArray();
  for (const auto& transport : metrics.transports) {
    json.beginObject();
    json.field("transport", nameOf(transport.transport));
    json.field("read_bytes", transport.traffic.served_read_bytes);
    json.field("written_bytes", transport.traffic.served_written_bytes);
    json.endObject();
  }
  json.endArray();
  json.endObject();
  out += '\n';
}

EngineConfig configOf(const Options& options, EngineConfig config) {
  if (const auto where = parseAddress(options.bind)) {
    config.rpc_server_hostname = where->host;
    config.rpc_server_port = where->port;
  }
  if (options.staging_chunk) config.plan.staging_chunk_bytes = *options.staging_chunk;
  if (options.staging_buffers) config.staging.buffers = *options.staging_buffers;
  if (!options.segment.empty()) config.local_segment_name = options.segment;
  return config;
}

// Puts the configuration's file as it is now in force, as far as a running engine can, and says what came of it.
void reload(const Options& options, Engine& engine) {
  const auto say = [](const std::string& what) { std::fprintf(stderr, "tent-submit: SIGHUP: %s\n", what.c_str()); };
  const std::string& path = options.common.config_path;
  std::optional<EngineConfig> config = loadEngineConfig(path, options.common.quiet);
  if (!config) return say("the configuration in force stays as it is");
  applyToken(options, config->auth);
  const std::vector<std::string> left = engine.reloadPolicy(configOf(options, *std::move(config)));
  if (!left.empty()) say(fmt::format("to change {} takes a restart", fmt::join(left, ", ")));
  if (!options.common.quiet) say(fmt::format("qos, policy and admission of {} are in force", escapeForTerminal(path)));
}

// Sleeps until the process is interrupted, or until its standard input ends where that is asked for.
void serveUntilStopped(const Options& options, Engine& engine) {
  std::array<pollfd, 3> fds{
      {{interruptFd(), POLLIN, 0}, {hangupFd(), POLLIN, 0}, {options.until_stdin_ends ? STDIN_FILENO : -1, POLLIN, 0}}};
  while (!interrupted()) {
    if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if (takeHangup()) reload(options, engine);
    std::array<char, 64> piece{};
    if (fds[2].revents != 0 && read(STDIN_FILENO, piece.data(), piece.size()) <= 0) return;
  }
}

int environmentFault(const std::string& message) {
  std::fprintf(stderr, "tent-submit: %s\n", message.c_str());
  return kExitEnvironment;
}

}  // namespace

int serve(const Options& options, EngineConfig config, Output& output) {
  // Without a file that can be read again SIGHUP ends the process, as usual.
  if (!options.common.config_path.empty() && options.common.config_path != "-") catchHangups();
  auto engine = Engine::create(configOf(options, std::move(config)));
  if (!engine) return environmentFault(messageOf(engine.error()));
  Target target;
  target.engine = *std::move(engine);
  if (const std::string error = offer(target, options.size); !error.empty()) return environmentFault(error);

  const bool json = options.common.format != OutputFormat::kText;
  if (json) {
    writeReadyObject(output.buffer(), *target.engine, options.size);
  } else {
    output.buffer() += readyText(*target.engine, options);
  }
  output.flush();
  // Nobody can come who has not been told where.
  if (output.closed() || !output.error().empty()) return kExitOk;
  serveUntilStopped(options, *target.engine);
  appendServed(output.buffer(), target.engine->metrics(), json);
  return kExitOk;
}

}  // namespace tent::tool
