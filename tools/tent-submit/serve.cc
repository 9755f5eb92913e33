#include "tent-submit/serve.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"
#include "common/exit_code.h"
#include "common/interrupt.h"
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
struct Served {
  Mapping application;
  std::unique_ptr<Engine> engine;
};

std::string offer(Served& served, uint64_t bytes) {
  const MemoryOptions options{MemoryLocation{}, Permission::kGlobalReadWrite};
  auto mapping = Mapping::make(bytes);
  if (!mapping) {
    return fmt::format("there is no memory of {}: {}; give a smaller --size", formatSize(bytes),
                       std::generic_category().message(errno));
  }
  served.application = *std::move(mapping);
  fillPattern(served.application.memory(), kPatternSeed);
  if (Error error = served.engine->registerMemory(served.application.memory().data(), bytes, options)) {
    return messageOf(error);
  }
  const auto allocated = served.engine->allocateMemory(bytes, options);
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

// Sleeps until the process is interrupted, or until its standard input ends where that is asked for.
void sleepUntilStopped(bool until_stdin_ends) {
  std::array<pollfd, 2> fds{{{interruptFd(), POLLIN, 0}, {until_stdin_ends ? STDIN_FILENO : -1, POLLIN, 0}}};
  while (!interrupted()) {
    if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    std::array<char, 64> piece{};
    if (fds[1].revents != 0 && read(STDIN_FILENO, piece.data(), piece.size()) <= 0) return;
  }
}

int environmentFault(const std::string& message) {
  std::fprintf(stderr, "tent-submit: %s\n", message.c_str());
  return kExitEnvironment;
}

}  // namespace

int serve(const Options& options, EngineConfig config, Output& output) {
  if (const auto where = parseAddress(options.bind)) {
    config.rpc_server_hostname = where->host;
    config.rpc_server_port = where->port;
  }
  if (options.staging_chunk) config.plan.staging_chunk_bytes = *options.staging_chunk;
  if (options.staging_buffers) config.staging.buffers = *options.staging_buffers;
  if (!options.segment.empty()) config.local_segment_name = options.segment;
  auto engine = Engine::create(std::move(config));
  if (!engine) return environmentFault(messageOf(engine.error()));
  Served served;
  served.engine = *std::move(engine);
  if (const std::string error = offer(served, options.size); !error.empty()) return environmentFault(error);

  const bool json = options.common.format != OutputFormat::kText;
  if (json) {
    writeReadyObject(output.buffer(), *served.engine, options.size);
  } else {
    output.buffer() += readyText(*served.engine, options);
  }
  output.flush();
  // Nobody can come who has not been told where.
  if (output.closed() || !output.error().empty()) return kExitOk;
  sleepUntilStopped(options.until_stdin_ends);
  appendServed(output.buffer(), served.engine->metrics(), json);
  return kExitOk;
}

}  // namespace tent::tool
