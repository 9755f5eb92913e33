#include "tent-submit/session.h"

namespace tent::tool {

tl::expected<std::unique_ptr<Session>, Error> Session::start(const EngineConfig& config, const PolicyName& tenant,
                                                             uint64_t control_timeout_ns) {
  EngineConfig own = config;
  own.tenant = tenant;
  // The addresses of the configuration are those of the deployed engine, which may well be running.
  own.local_segment_name.reset();
  own.rpc_server_hostname.clear();
  own.rpc_server_port = 0;
  own.tcp.port = 0;
  EngineOptions options;
  options.control_timeout_ns = control_timeout_ns;
  auto engine = Engine::create(std::move(own), std::move(options));
  if (!engine) return tl::unexpected(std::move(engine.error()));

  auto session = std::unique_ptr<Session>(new Session);
  session->engine_ = *std::move(engine);
  auto local = session->look(kLocalSegment);
  if (!local) return tl::unexpected(std::move(local.error()));
  session->local_ = *std::move(local);
  return session;
}

tl::expected<Session::Target, Error> Session::look(SegmentId segment) {
  Target target;
  target.segment = segment;
  for (const Registration registration : {Registration::kApplication, Registration::kAllocated}) {
    auto environment = engine_->environmentFor(segment, registration);
    if (!environment) return tl::unexpected(std::move(environment.error()));
    target.environments[static_cast<size_t>(registration)] = *std::move(environment);
  }
  return target;
}

Error Session::connect(const std::string& address) {
  auto segment = engine_->openSegment(address);
  if (!segment) return std::move(segment.error());
  auto target = look(*segment);
  if (!target) return std::move(target.error());
  targets_.push_back(*std::move(target));
  memories_.emplace_back();
  return {};
}

const Environment& Session::environment(std::optional<size_t> peer, Registration registration) const {
  return (peer ? targets_[*peer] : local_).environments[static_cast<size_t>(registration)];
}

void Session::end() {
  if (engine_ == nullptr) return;
  metrics_at_end_ = engine_->metrics();
  engine_.reset();
}

}  // namespace tent::tool
