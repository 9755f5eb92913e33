#include "transport/fake/fake_target.h"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/clock.h"

namespace tent::fake {
namespace {

void blockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// Without a limit: a peer may ask for nothing for as long as it likes.
bool waitForRequest(int socket) {
  pollfd wait{socket, POLLIN, 0};
  int count = 0;
  do {
    count = poll(&wait, 1, -1);
  } while (count < 0 && errno == EINTR);
  return count > 0;
}

}  // namespace

tl::expected<std::unique_ptr<Target>, Error> Target::open(uint64_t stall_timeout_ns) {
  std::unique_ptr<Target> target(new Target(stall_timeout_ns));
  target->listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress address(target->name_);
  if (!target->listener_ || ::bind(target->listener_.get(), address.get(), address.length) != 0 ||
      ::listen(target->listener_.get(), SOMAXCONN) != 0) {
    return tl::unexpected(errorOf(Reason::kIoError, "fake: listen: " + std::generic_category().message(errno)));
  }
  target->accepter_ = std::thread([raw = target.get()] { raw->accept(); });
  return target;
}

Target::~Target() {
  stop();
}

void Target::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    if (listener_) ::shutdown(listener_.get(), SHUT_RDWR);
    for (const Peer& peer : peers_) ::shutdown(peer.socket.get(), SHUT_RDWR);
  }
  if (accepter_.joinable()) accepter_.join();
  for (Peer& peer : peers_) peer.thread.join();
  peers_.clear();
}

void Target::remove(uint64_t id) {
  // A peer that stands still in the middle of a transfer is dropped before this ends.
  regions_.remove(id, 2 * stall_timeout_ns_);
}

std::string Target::answer() {
  return formatAddress({name_, tickets_.issue(monotonicNowNs())});
}

void Target::accept() {
  blockSignals();
  while (true) {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::lock_guard lock(mutex_);
    if (stopped_ || (!socket && errno != EINTR && errno != ECONNABORTED)) return;
    peers_.remove_if([](Peer& peer) {
      if (peer.ended) peer.thread.join();
      return peer.ended;
    });
    if (!socket || !sameUser(socket.get())) continue;
    limitStalls(socket.get(), stall_timeout_ns_);
    Peer& peer = peers_.emplace_back();
    peer.socket = std::move(socket);
    peer.thread = std::thread([this, &peer] { serve(peer); });
  }
}

void Target::serve(Peer& peer) {
  blockSignals();
  const int socket = peer.socket.get();
  if (welcome(socket)) {
    while (waitForRequest(socket) && serveOne(socket)) {
    }
  }
  ::shutdown(socket, SHUT_RDWR);
  const std::lock_guard lock(mutex_);
  peer.ended = true;
}

bool Target::welcome(int socket) {
  Hello hello;
  if (receiveAll(socket, &hello, sizeof(hello)) != Io::kDone) return false;
  Verdict verdict;
  if (!tickets_.redeem(hello.ticket, monotonicNowNs())) verdict.reason = Reason::kAuthFailed;
  return sendAll(socket, &verdict, sizeof(verdict)) == Io::kDone && verdict.reason == Reason::kNone;
}

bool Target::serveOne(int socket) {
  Request request;
  if (receiveAll(socket, &request, sizeof(request)) != Io::kDone) return false;
  const bool reads = request.direction == Direction::kRead;
  Verdict verdict;
  auto use = regions_.use(request.address, request.length, reads ? Access::kRead : Access::kReadWrite, request.region);
  if (!use) verdict.reason = use.error().reason;
  if (sendAll(socket, &verdict, sizeof(verdict)) != Io::kDone) return false;
  if (!use) return true;
  auto* const memory = reinterpret_cast<std::byte*>(request.address);  // NOLINT(performance-no-int-to-ptr)
  // One at a time: what a peer does over one link after it saw the end of something on another then comes after that
  // for the threads here too.
  const std::lock_guard lock(moving_);
  // Counted before the peer can know that it is done.
  if (reads) {
    served_read_bytes_ += request.length;
    return sendAll(socket, memory, request.length) == Io::kDone;
  }
  if (receiveAll(socket, memory, request.length) != Io::kDone) return false;
  served_written_bytes_ += request.length;
  return sendAll(socket, &verdict, sizeof(verdict)) == Io::kDone;
}

}  // namespace tent::fake
