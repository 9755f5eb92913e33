#include "transport/shm/shm_backend.h"

#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/shm/link_state.h"
#include "transport/shm/session.h"
#include "transport/shm/target.h"
#include "transport/shm/wire.h"

namespace tent {
namespace {

// What the caller owns; the state lives on while copies and handlers need it.
class ShmLink final : public Link {
 public:
  explicit ShmLink(std::shared_ptr<shm::LinkState> state) : state_(std::move(state)) {}
  ShmLink(const ShmLink&) = delete;
  ShmLink& operator=(const ShmLink&) = delete;
  ~ShmLink() override { state_->close(errorOf(Reason::kCanceled, "shm: the link was closed")); }

  void submit(std::span<const Transfer> transfers) override { state_->submit(transfers); }
  bool cancel(uint64_t token) override { return state_->cancel(token); }
  bool ended() const override { return state_->ended(); }
  bool progress() override { return state_->progress(); }
  Error waitReady(uint64_t timeout_ns) override { return state_->waitReady(timeout_ns); }
  Error reaches(const RemoteRegion& region) const override { return state_->reaches(region); }
  void close(const Error& why) override { state_->close(why); }

 private:
  std::shared_ptr<shm::LinkState> state_;
};

class ShmBackend final : public Backend {
 public:
  ShmBackend(Loop& loop, const ShmOptions& options, std::shared_ptr<shm::Target> target)
      : loop_(loop),
        connect_timeout_(options.connect_timeout_ns),
        target_(std::move(target)),
        shared_(new shm::LinkShared{loop, options.inline_bytes, shm::CopyPool(options.copy_threads)}) {
    capabilities_.name = "shm";
    capabilities_.one_machine = true;
  }
  ShmBackend(const ShmBackend&) = delete;
  ShmBackend& operator=(const ShmBackend&) = delete;
  ~ShmBackend() override { stop(); }

  const Capabilities& capabilities() const override { return capabilities_; }

  // A target cannot know what its peers copy.
  Traffic traffic() const override { return {shared_->read_bytes, shared_->written_bytes, 0, 0}; }

  tl::expected<std::string, Error> registerRegion(const Region& region) override {
    Error error = target_->add(region);
    if (error) return tl::unexpected(std::move(error));
    return std::string();
  }
  void unregisterRegion(uint64_t id) override { target_->remove(id); }

  tl::expected<std::string, Error> answer(std::string_view offer) override {
    if (offer != shm::kOffer) {
      return tl::unexpected(errorOf(Reason::kIoError, "shm: the peer's offer makes no sense; is it another version?"));
    }
    return target_->answer();
  }
  std::string offer() override { return std::string(shm::kOffer); }

  tl::expected<std::unique_ptr<Link>, Error> connect(std::string_view answer, const std::string& host,
                                                     std::shared_ptr<LinkObserver> observer) override;
  void stop() override;

 private:
  Loop& loop_;
  const std::chrono::nanoseconds connect_timeout_;
  Capabilities capabilities_;
  const std::shared_ptr<shm::Target> target_;
  const std::shared_ptr<shm::LinkShared> shared_;

  std::mutex mutex_;
  bool stopped_ = false;
  std::vector<std::weak_ptr<shm::LinkState>> links_;
};

tl::expected<std::unique_ptr<Link>, Error> ShmBackend::connect(std::string_view answer, const std::string& /*host*/,
                                                               std::shared_ptr<LinkObserver> observer) {
  const auto parsed = shm::parseAnswer(answer);
  if (!parsed) return tl::unexpected(parsed.error());
  auto state = std::make_shared<shm::LinkState>(shared_, std::move(observer));
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return tl::unexpected(errorOf(Reason::kCanceled, "shm: the backend was stopped"));
    std::erase_if(links_, [](const auto& link) { return link.expired(); });
    links_.push_back(state);
    state->start(std::make_shared<shm::Session>(loop_, *parsed, connect_timeout_));
  }
  return std::make_unique<ShmLink>(std::move(state));
}

void ShmBackend::stop() {
  std::vector<std::weak_ptr<shm::LinkState>> links;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    links.swap(links_);
  }
  for (const auto& link : links) {
    if (const auto state = link.lock()) state->close(errorOf(Reason::kCanceled, "shm: the backend was stopped"));
  }
  shared_->pool.stop();
  // After what the links have posted, so that nothing of theirs is left on the loop.
  target_->stop();
}

}  // namespace

tl::expected<std::unique_ptr<Backend>, Error> makeShmBackend(Loop& loop, const ShmOptions& options) {
  auto target = shm::Target::open(loop);
  if (!target) return tl::unexpected(target.error());
  return std::make_unique<ShmBackend>(loop, options, std::move(*target));
}

}  // namespace tent
