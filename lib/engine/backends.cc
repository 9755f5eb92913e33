#include "engine/backends.h"

#include "transport/shm/shm_backend.h"
#include "transport/tcp/tcp_backend.h"

namespace tent {

TransportSet builtBackends() {
  TransportSet built;
  built.add(Transport::kShm);
  built.add(Transport::kTcp);
  return built;
}

tl::expected<std::vector<std::unique_ptr<Backend>>, Error> makeBackends(Loop& loop, const EngineConfig& config,
                                                                        const std::string& bind_address) {
  std::vector<std::unique_ptr<Backend>> backends;
  const auto add = [&](tl::expected<std::unique_ptr<Backend>, Error> made) {
    if (!made) return std::move(made.error());
    backends.push_back(*std::move(made));
    return Error{};
  };
  if (!config.plan.disabled.has(Transport::kShm)) {
    ShmOptions options;
    options.copy_threads = config.shm.copy_threads;
    if (Error error = add(makeShmBackend(loop, options))) return tl::unexpected(std::move(error));
  }
  if (!config.plan.disabled.has(Transport::kTcp)) {
    TcpOptions options;
    options.bind_address = bind_address;
    options.port = config.tcp.port;
    options.streams = config.tcp.streams;
    options.encrypt = config.auth.encrypt_data;
    options.connect_timeout_ns = config.tcp.connect_timeout_ns;
    options.stall_timeout_ns = config.tcp.stall_timeout_ns;
    if (Error error = add(makeTcpBackend(loop, options))) return tl::unexpected(std::move(error));
  }
  return backends;
}

}  // namespace tent
