#include "transport/shm/target.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <asio/post.hpp>

#include "base/system_error.h"
#include "transport/shared_memory.h"
#include "transport/shm/connection.h"

namespace tent::shm {
namespace {

constexpr int kBacklog = 128;
constexpr size_t kMaxUnproven = 64;
constexpr auto kReleaseTime = std::chrono::seconds(2);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

}  // namespace

Target::Target(Loop& loop) : loop_(loop), listener_(loop.context()), accept_timer_(loop.context()) {}

tl::expected<std::shared_ptr<Target>, Error> Target::open(Loop& loop) {
  const auto failed = [](const char* what) { return tl::unexpected(errorOfSystem(Reason::kIoError, what, errno)); };
  std::shared_ptr<Target> target(new Target(loop));
  Fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return failed("shm: no socket to listen with");
  const SocketAddress address(target->name_);
  if (::bind(listener.get(), address.get(), address.length) != 0) return failed("shm: bind");
  if (::listen(listener.get(), kBacklog) != 0) return failed("shm: listen");
  loop.run([&] {
    target->listener_.assign(listener.release());
    target->accept();
  });
  return target;
}

void Target::stop() {
  std::vector<uint64_t> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, region] : regions_) ids.push_back(id);
    regions_.clear();
  }
  if (!ids.empty()) takeBack(ids);
  loop_.run([this] {
    std::error_code ignored;
    listener_.close(ignored);
    accept_timer_.cancel();
    const std::vector<std::shared_ptr<Connection>> open(connections_.begin(), connections_.end());
    for (const auto& connection : open) connection->close();
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    tickets_.clear();
  });
}

// ---- connections

void Target::accept() {
  listener_.async_wait(
      asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](const std::error_code& error) {
        if (error || !self->listener_.is_open()) return;
        while (true) {
          Fd socket(::accept4(self->listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
          if (socket) {
            self->admit(std::move(socket));
            continue;
          }
          if (errno == EINTR || errno == ECONNABORTED) continue;
          // Out of descriptors or memory: the socket stays readable, so waiting for that alone would spin.
          return errno == EAGAIN ? self->accept() : self->acceptLater();
        }
      });
}

void Target::acceptLater() {
  accept_timer_.expires_after(kAcceptPause);
  accept_timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (!error && self->listener_.is_open()) self->accept();
  });
}

void Target::admit(Fd socket) {
  const auto credentials = credentialsOf(socket.get());
  if (!credentials || credentials->uid != geteuid()) return;
  size_t unproven = 0;
  for (const auto& connection : connections_) unproven += connection->proven() ? 0u : 1u;
  if (unproven >= kMaxUnproven) return;
  const auto connection = std::make_shared<Connection>(shared_from_this(), std::move(socket));
  connections_.insert(connection);
  connection->start();
}

tl::expected<std::string, Error> Target::answer() {
  const std::lock_guard lock(mutex_);
  if (stopped_) return tl::unexpected(errorOf(Reason::kPeerUnreachable, "shm: the backend was stopped"));
  return formatAnswer({name_, tickets_.issue(monotonicNowNs())});
}

// ---- regions

Error Target::add(const Region& region) {
  if (region.shared != nullptr && region.access != Access::kNone) {
    // What peers may do with the memory is the kernel's to enforce, by this seal.
    const int seals = fcntl(region.shared->fd(), F_GET_SEALS);
    const bool read_only = seals >= 0 && (seals & F_SEAL_FUTURE_WRITE) != 0;
    if (seals < 0 || read_only != (region.access == Access::kRead)) {
      return errorOf(Reason::kRegistrationFailed,
                     fmt::format("shm: this memory was allocated {} by peers, and cannot be registered otherwise",
                                 read_only ? "read-only" : "writable"));
    }
  }
  const std::lock_guard lock(mutex_);
  regions_[region.id] = region;
  return {};
}

SendResult Target::sendRegion(int socket, uint64_t id, bool& given) {
  Frame frame;
  frame.id = id;
  // Under the lock, so that the descriptor cannot be closed by whoever unregisters meanwhile.
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(id);
  given = found != regions_.end() && found->second.access != Access::kNone;
  if (!given) {
    frame.type = FrameType::kNoRegion;
    frame.value = static_cast<uint32_t>(found == regions_.end() ? Reason::kOutOfRange : Reason::kPermissionDenied);
    return sendFrame(socket, frame);
  }
  const Region& region = found->second;
  frame.type = FrameType::kRegion;
  frame.value = static_cast<uint32_t>(region.access);
  frame.base = reinterpret_cast<uintptr_t>(region.base);
  frame.length = region.length;
  return sendFrame(socket, frame, region.shared != nullptr ? region.shared->fd() : -1);
}

void Target::remove(uint64_t id) {
  {
    const std::lock_guard lock(mutex_);
    if (regions_.erase(id) == 0 || stopped_) return;
  }
  takeBack({id});
}

void Target::takeBack(const std::vector<uint64_t>& ids) {
  {
    const std::lock_guard lock(mutex_);
    for (const uint64_t id : ids) unreleased_[id] = 1;  // the loop, until it has asked the peers
  }
  // Posted, not run: whoever unregisters may hold a lock that the loop waits for in somebody's callback.
  asio::post(loop_.context(), [self = shared_from_this(), ids] {
    for (const uint64_t id : ids) self->revoke(id);
  });
  if (loop_.inLoop()) return;
  std::unique_lock lock(mutex_);
  released_.wait_for(lock, kReleaseTime, [&] {
    return std::none_of(ids.begin(), ids.end(), [this](uint64_t id) { return unreleased_.contains(id); });
  });
}

void Target::revoke(uint64_t id) {
  const std::vector<std::shared_ptr<Connection>> open(connections_.begin(), connections_.end());
  for (const auto& connection : open) {
    {
      const std::lock_guard lock(mutex_);
      ++unreleased_[id];
    }
    if (!connection->revoke(id)) released(id);
  }
  released(id);
}

void Target::released(uint64_t id) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = unreleased_.find(id);
    if (found == unreleased_.end() || --found->second > 0) return;
    unreleased_.erase(found);
  }
  released_.notify_all();
}

}  // namespace tent::shm
