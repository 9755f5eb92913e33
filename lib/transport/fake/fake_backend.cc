#include "transport/fake/fake_backend.h"

#include <mutex>
#include <utility>
#include <vector>

#include "transport/fake/fake_link.h"
#include "transport/fake/fake_target.h"
#include "transport/fake/fake_wire.h"

namespace tent {
namespace {

constexpr const char* kOffer = "fake";

// What the caller owns; the link itself lives as long as its thread.
class FakeHandle final : public Link {
 public:
  explicit FakeHandle(std::shared_ptr<FakeLink> link) : link_(std::move(link)) {}
  FakeHandle(const FakeHandle&) = delete;
  FakeHandle& operator=(const FakeHandle&) = delete;
  ~FakeHandle() override { link_->close(errorOf(Reason::kCanceled, "fake: the link was closed")); }

  void submit(std::span<const Transfer> transfers) override { link_->submit(transfers); }
  bool cancel(uint64_t token) override { return link_->cancel(token); }
  bool ended() const override { return link_->ended(); }
  Error waitReady(uint64_t timeout_ns) override { return link_->waitReady(timeout_ns); }
  void close(const Error& why) override { link_->close(why); }

 private:
  std::shared_ptr<FakeLink> link_;
};

class FakeBackend final : public Backend {
 public:
  FakeBackend(const FakeOptions& options, std::unique_ptr<fake::Target> target)
      : target_(std::move(target)), shared_(std::make_shared<FakeShared>()) {
    capabilities_.name = options.name;
    capabilities_.one_machine = options.one_machine;
    capabilities_.queue_transfers = options.queue_transfers;
    capabilities_.queue_bytes = options.queue_bytes;
    shared_->stall_timeout_ns = options.stall_timeout_ns;
    shared_->script = options.script != nullptr ? options.script : std::make_shared<FakeScript>();
  }
  FakeBackend(const FakeBackend&) = delete;
  FakeBackend& operator=(const FakeBackend&) = delete;
  ~FakeBackend() override { stop(); }

  const Capabilities& capabilities() const override { return capabilities_; }
  Traffic traffic() const override {
    return {shared_->read_bytes, shared_->written_bytes, target_->servedReadBytes(), target_->servedWrittenBytes()};
  }

  tl::expected<std::string, Error> registerRegion(const Region& region) override {
    target_->add(region);
    return std::string();
  }
  void unregisterRegion(uint64_t id) override { target_->remove(id); }

  tl::expected<std::string, Error> answer(std::string_view offer) override {
    if (offer != kOffer) return tl::unexpected(errorOf(Reason::kIoError, "fake: the offer makes no sense"));
    return target_->answer();
  }
  std::string offer() override { return kOffer; }

  tl::expected<std::unique_ptr<Link>, Error> connect(std::string_view answer, const std::string& /*host*/,
                                                     std::shared_ptr<LinkObserver> observer) override {
    fake::Address address;
    if (!fake::parseAddress(answer, address)) {
      return tl::unexpected(errorOf(Reason::kIoError, "fake: the answer makes no sense"));
    }
    auto link = std::make_shared<FakeLink>(shared_, address, std::move(observer));
    const std::lock_guard lock(mutex_);
    if (stopped_) return tl::unexpected(errorOf(Reason::kCanceled, "fake: the backend was stopped"));
    std::erase_if(links_, [](const auto& other) { return other.expired(); });
    links_.push_back(link);
    link->start();
    return std::make_unique<FakeHandle>(std::move(link));
  }

  void stop() override {
    std::vector<std::weak_ptr<FakeLink>> links;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(stopped_, true)) return;
      links.swap(links_);
    }
    for (const auto& link : links) {
      if (const auto open = link.lock()) open->close(errorOf(Reason::kCanceled, "fake: the backend was stopped"));
    }
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [this] { return shared_->threads == 0; });
    lock.unlock();
    target_->stop();
  }

 private:
  Capabilities capabilities_;
  const std::unique_ptr<fake::Target> target_;
  const std::shared_ptr<FakeShared> shared_;

  std::mutex mutex_;
  bool stopped_ = false;
  std::vector<std::weak_ptr<FakeLink>> links_;
};

}  // namespace

tl::expected<std::unique_ptr<Backend>, Error> makeFakeBackend(const FakeOptions& options) {
  auto target = fake::Target::open(options.stall_timeout_ns);
  if (!target) return tl::unexpected(target.error());
  return std::make_unique<FakeBackend>(options, std::move(*target));
}

}  // namespace tent
