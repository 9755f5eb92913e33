#include "engine/engine.h"

#include <fstream>
#include <random>

#include <fmt/format.h>

#include "engine/backends.h"
#include "engine/checksum.h"
#include "engine/engine_impl.h"
#include "engine/staged_transfers.h"

namespace tent {
namespace {

constexpr std::string_view kLoopback = "127.0.0.1";

std::string readBootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

uint64_t randomInstance() {
  std::random_device random;
  return static_cast<uint64_t>(random()) << 32 | random();
}

Error badConfiguration(std::string detail) {
  return errorOf(Reason::kBadConfiguration, std::move(detail));
}

// What the configuration asks for and this build's engine cannot do: nothing of it may be dropped in silence.
Error checkConfig(const EngineConfig& config) {
  if (config.metadata_type != MetadataType::kP2p) {
    return badConfiguration("metadata_type: this build has \"p2p\" only");
  }
  return {};
}

}  // namespace

Engine::Impl::Impl(EngineConfig config, EngineOptions options)
    : config_(std::move(config)),
      options_(std::move(options)),
      tenant_(config_.tenant.value_or(PolicyName("default"))),
      rules_(std::make_shared<const Rules>(config_.policies, tenant_, 0)),
      admission_(TenantAdmission::of(tenant_)),
      boot_id_(readBootId()),
      instance_(randomInstance()) {}

Error Engine::Impl::start() {
  if (Error error = checkConfig(config_)) return error;
  control_loop_ = std::make_unique<Loop>("tent-control");
  data_loop_ = std::make_unique<Loop>("tent-data");
  const std::string host = config_.rpc_server_hostname.empty() ? std::string(kLoopback) : config_.rpc_server_hostname;
  auto control = ControlServer::listen(*control_loop_, host, config_.rpc_server_port, controlHandlers());
  if (!control) return std::move(control.error());
  control_ = *std::move(control);
  auto security = secureControl(config_.auth, control_->isLoopback(), host);
  if (!security) return std::move(security.error());
  security_ = *std::move(security);
  address_ = control_->address();
  segment_name_ = config_.local_segment_name.value_or(address_);
  if (Error error = startBackends(control_->bindAddress())) return error;

  std::vector<LocalMemory::Server> servers;
  for (const Server& server : servers_) servers.push_back({server.transport, server.backend.get()});
  memory_ = std::make_unique<LocalMemory>(std::move(servers));
  lent_ = std::make_unique<StagingPool>(*control_loop_, *memory_, stagingLimits());
  // Not before there is something to answer with.
  control_->start(security_);
  return {};
}

Error Engine::Impl::startBackends(const std::string& bind_address) {
  std::vector<std::unique_ptr<Backend>> backends;
  TransportSet built;
  if (options_.make_backends) {
    backends = options_.make_backends(*data_loop_);
    for (const auto& backend : backends) built.add(*valueOfName<Transport>(backend->capabilities().name));
  } else {
    built = builtBackends();
    auto made = makeBackends(*data_loop_, config_, bind_address);
    if (!made) return std::move(made.error());
    backends = *std::move(made);
  }
  for (auto& backend : backends) {
    servers_.push_back({*valueOfName<Transport>(backend->capabilities().name), std::move(backend)});
  }
  std::vector<std::string> notes;  // what sysfs does not tell is unknown to plans too, and explained there
  environment_ = options_.environment ? *options_.environment : probeEnvironment(built, "/sys", notes);
  environment_.built = built;
  return {};
}

ControlHandlers Engine::Impl::controlHandlers() {
  ControlHandlers handlers;
  handlers.describe = [this] { return describe(); };
  handlers.instance = instance_;
  handlers.notify = [this](std::string_view from, Notification notification) {
    return takeNotification(from, std::move(notification));
  };
  handlers.answer = [this](Transport transport, std::string_view offer) -> tl::expected<std::string, Error> {
    Backend* backend = backendOf(transport);
    if (backend != nullptr) return backend->answer(offer);
    return tl::unexpected(errorOf(Reason::kPeerUnreachable, fmt::format("it does not serve {}", nameOf(transport))));
  };
  handlers.begin_checksum = [this](uint64_t address,
                                   uint64_t length) -> tl::expected<ControlHandlers::ChecksumSteps, Error> {
    auto use = memory_->use(address, length, Access::kRead);
    if (!use) return tl::unexpected(std::move(use.error()));
    const auto* data =
        reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): use checked it
    auto held = std::make_shared<RegionTable::Use>(*std::move(use));
    auto reader = std::make_shared<ChecksumReader>(data, length);
    return [held, reader](uint64_t& checksum) -> tl::expected<bool, Error> {
      if (held->withdrawn()) return tl::unexpected(beingUnregistered());
      return reader->step(checksum);
    };
  };
  handlers.admit_to_staging = [this] { return std::make_shared<StagingGuest>(*lent_); };
  return handlers;
}

PeerDescription Engine::Impl::describe() {
  PeerDescription description;
  description.name = segment_name_;
  description.host = environment_.local.name;
  description.instance = instance_;
  description.boot_id = boot_id_;
  for (const Server& server : servers_) description.transports.add(server.transport);
  description.buffers = memory_->describe();
  return description;
}

void Engine::Impl::endTransfers() {
  const Error destroyed = errorOf(Reason::kCanceled, "the engine was destroyed");
  for (Task* task : admission_->takeAll(*this)) {
    task->error = destroyed;
    endTask(*task, TaskState::kCanceled);
  }
  std::vector<std::shared_ptr<Peer>> peers;
  {
    const std::shared_lock lock(segments_mutex_);
    peers = retired_peers_;
    for (const auto& [id, segment] : segments_) peers.push_back(segment.peer);
  }
  {
    const std::lock_guard lock(self_mutex_);
    if (self_ != nullptr) peers.push_back(self_);
  }
  for (const auto& peer : peers) peer->shutDown(destroyed);
  endStaging(destroyed);
}

Engine::Impl::~Impl() {
  endTransfers();
  if (staged_ != nullptr) staged_->waitIdle();
  if (control_ != nullptr) control_->stop();
  for (const Server& server : servers_) server.backend->stop();
  // No peer is asked or answered from here on, so nothing reaches into what follows.
  if (control_loop_ != nullptr) control_loop_->stop();
  staged_.reset();
  lent_.reset();
  segments_.clear();
  retired_peers_.clear();
  self_.reset();
  batches_.clear();
  memory_.reset();
  servers_.clear();
}

Backend* Engine::Impl::backendOf(Transport transport) const {
  for (const Server& server : servers_) {
    if (server.transport == transport) return server.backend.get();
  }
  return nullptr;
}

tl::expected<std::unique_ptr<Engine>, Error> Engine::create(EngineConfig config, EngineOptions options) {
  try {
    auto impl = std::make_unique<Impl>(std::move(config), std::move(options));
    if (Error error = impl->start()) return tl::unexpected(std::move(error));
    return std::unique_ptr<Engine>(new Engine(std::move(impl)));
  } catch (const std::system_error& failure) {
    return tl::unexpected(
        errorOf(Reason::kResourceExhausted,
                fmt::format("{}: an engine needs a dozen file descriptors (ulimit -n) and some threads (ulimit -u)",
                            failure.what())));
  }
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

void Engine::endTransfers() {
  impl_->endTransfers();
}

const std::string& Engine::segmentName() const {
  return impl_->segmentName();
}
const std::string& Engine::address() const {
  return impl_->address();
}
const EngineConfig& Engine::config() const {
  return impl_->config();
}

tl::expected<void*, Error> Engine::allocateMemory(uint64_t bytes, const MemoryOptions& options) {
  return impl_->memory().allocate(bytes, options);
}
Error Engine::freeMemory(void* address) {
  return impl_->memory().free(address,
                              [this](uint64_t base, uint64_t length) { return impl_->usesInFlight(base, length); });
}
Error Engine::registerMemory(void* address, uint64_t bytes, const MemoryOptions& options) {
  return impl_->memory().registerRange(address, bytes, options);
}
Error Engine::unregisterMemory(void* address, uint64_t bytes) {
  return impl_->memory().unregisterRange(address, bytes);
}

tl::expected<SegmentId, Error> Engine::openSegment(const std::string& name) {
  return impl_->openSegment(name);
}
Error Engine::closeSegment(SegmentId segment) {
  return impl_->closeSegment(segment);
}
tl::expected<SegmentInfo, Error> Engine::segmentInfo(SegmentId segment) {
  return impl_->segmentInfo(segment);
}
tl::expected<Environment, Error> Engine::environmentFor(SegmentId segment, Registration registration) {
  return impl_->environmentFor(segment, registration);
}
tl::expected<std::vector<uint64_t>, Error> Engine::checksums(SegmentId segment, std::span<const Range> ranges) {
  return impl_->checksums(segment, ranges);
}

tl::expected<BatchId, Error> Engine::allocateBatch(size_t capacity) {
  return impl_->allocateBatch(capacity);
}
Error Engine::freeBatch(BatchId batch) {
  return impl_->freeBatch(batch);
}
tl::expected<void, SubmitFailure> Engine::submit(BatchId batch, std::span<const Request> requests, ValidationMode mode,
                                                 const Notification* notification) {
  return impl_->submit(batch, requests, mode, notification);
}
Error Engine::checkRoom(BatchId batch, size_t count) const {
  return impl_->checkRoom(batch, count);
}
std::vector<std::string> Engine::reloadPolicy(EngineConfig config) {
  return impl_->reloadPolicy(std::move(config));
}
Explanation Engine::explain(const Request& request, ValidationMode mode, uint64_t now_ns,
                            const Environment* environment) {
  return environment == nullptr ? impl_->explain(request, mode, now_ns)
                                : impl_->explainAgainst(*environment, request, mode, now_ns);
}
tl::expected<size_t, Error> Engine::taskCount(BatchId batch) const {
  return impl_->taskCount(batch);
}
tl::expected<TaskStatus, Error> Engine::taskStatus(BatchId batch, size_t task) const {
  return impl_->taskStatus(batch, task);
}
tl::expected<TaskReport, Error> Engine::taskReport(BatchId batch, size_t task) const {
  return impl_->taskReport(batch, task);
}
tl::expected<TaskStatus, Error> Engine::batchStatus(BatchId batch) const {
  return impl_->batchStatus(batch);
}
tl::expected<bool, Error> Engine::wait(BatchId batch, std::optional<uint64_t> timeout_ns) {
  return impl_->wait(batch, timeout_ns);
}
tl::expected<int, Error> Engine::batchFd(BatchId batch) {
  return impl_->batchFd(batch);
}
Error Engine::cancel(BatchId batch, size_t task) {
  return impl_->cancel(batch, task);
}
Error Engine::sendNotification(SegmentId segment, const Notification& notification) {
  return impl_->sendNotification(segment, notification);
}
std::vector<Notification> Engine::receiveNotifications() {
  return impl_->receiveNotifications();
}
EngineMetrics Engine::metrics() const {
  return impl_->metrics();
}

}  // namespace tent
