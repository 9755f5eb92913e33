#include "transport/tcp/tcp_backend.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "transport/tcp/client_link.h"
#include "transport/tcp/server.h"

namespace tent {
namespace {

using tcp::Answer;
using tcp::Counters;
using tcp::LinkState;
using tcp::Server;
using tcp::TcpLink;

// How long accesses that are going on may hold up the end of a region before their connections are closed.
constexpr uint64_t kUnregisterTimeoutNs = 1'000'000'000;

class TcpBackend final : public Backend {
 public:
  TcpBackend(Loop& loop, const TcpOptions& options)
      : loop_(loop), options_(options), server_(std::make_shared<Server>(loop, options, regions_, counters_)) {
    capabilities_.name = "tcp";
    options_.streams = std::clamp(options_.streams, 1u, tcp::kMaxStreams);
  }
  ~TcpBackend() override { TcpBackend::stop(); }
  TcpBackend(const TcpBackend&) = delete;
  TcpBackend& operator=(const TcpBackend&) = delete;

  Error listen() { return server_->listen(); }

  const Capabilities& capabilities() const override { return capabilities_; }
  Traffic traffic() const override {
    return {counters_->read_bytes, counters_->written_bytes, counters_->served_read_bytes,
            counters_->served_written_bytes};
  }

  tl::expected<std::string, Error> registerRegion(const Region& region) override {
    regions_.add(region);
    return "";
  }
  void unregisterRegion(uint64_t id) override {
    if (!regions_.remove(id, kUnregisterTimeoutNs)) server_->closeUsersOf(id);
  }
  std::string offer() override { return textOf(tcp::Offer{options_.streams, options_.encrypt}); }
  tl::expected<std::string, Error> answer(std::string_view offer) override;
  tl::expected<std::unique_ptr<Link>, Error> connect(std::string_view answer, const std::string& host,
                                                     std::shared_ptr<LinkObserver> observer) override;
  void stop() override;

 private:
  Loop& loop_;
  TcpOptions options_;
  Capabilities capabilities_;
  RegionTable regions_;
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  const std::shared_ptr<Server> server_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::vector<std::weak_ptr<LinkState>> links_;
};

tl::expected<std::string, Error> TcpBackend::answer(std::string_view offer) {
  const std::optional<tcp::Offer> parsed = tcp::parseOffer(offer);
  if (!parsed) return tl::unexpected(errorOf(Reason::kIoError, "the offer of a tcp link makes no sense"));
  return textOf(server_->invite(*parsed));
}

tl::expected<std::unique_ptr<Link>, Error> TcpBackend::connect(std::string_view answer, const std::string& host,
                                                               std::shared_ptr<LinkObserver> observer) {
  const std::optional<Answer> parsed = tcp::parseAnswer(answer);
  if (!parsed || parsed->tickets.size() != options_.streams) {
    return tl::unexpected(errorOf(Reason::kIoError, "the peer's answer for tcp makes no sense"));
  }
  if (options_.encrypt && !parsed->key) {
    return tl::unexpected(errorOf(Reason::kAuthFailed, "the peer does not encrypt, which this side insists on"));
  }
  std::error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (error) return tl::unexpected(errorOf(Reason::kIoError, "tcp connects to a numeric address, not to " + host));
  auto state = std::make_shared<LinkState>(loop_, options_, counters_, std::move(observer));
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) {
      return tl::unexpected(errorOf(Reason::kCanceled, "the tcp transport was stopped"));
    }
    std::erase_if(links_, [](const auto& link) { return link.expired(); });
    links_.push_back(state);
  }
  state->open(*parsed, address);
  return std::make_unique<TcpLink>(std::move(state));
}

void TcpBackend::stop() {
  std::vector<std::weak_ptr<LinkState>> links;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    links.swap(links_);
  }
  for (const auto& weak : links) {
    if (const auto link = weak.lock()) link->close(errorOf(Reason::kCanceled, "the engine was stopped"));
  }
  server_->stop();
}

}  // namespace

tl::expected<std::unique_ptr<Backend>, Error> makeTcpBackend(Loop& loop, const TcpOptions& options) {
  auto backend = std::make_unique<TcpBackend>(loop, options);
  if (Error error = backend->listen()) return tl::unexpected(std::move(error));
  return backend;
}

}  // namespace tent
