#include "transport/shm/session.h"

#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include <fmt/format.h>

#include "base/system_error.h"

namespace tent::shm {
namespace {

// The queue of the target's socket is full: connecting cannot be waited for, only tried again.
constexpr auto kRetryTime = std::chrono::milliseconds(5);

}  // namespace

Session::Session(Loop& loop, const Answer& answer, std::chrono::nanoseconds timeout)
    : loop_(loop), answer_(answer), timeout_(timeout), timer_(loop.context()), retry_(loop.context()) {}

void Session::start(std::shared_ptr<SessionOwner> owner) {
  owner_ = std::move(owner);
  awaitAnswer(Reason::kPeerUnreachable);
  connecting_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connecting_) return fail(errorOfSystem(Reason::kIoError, "shm: no socket to connect with", errno));
  connect();
}

void Session::awaitAnswer(Reason otherwise) {
  timer_.expires_after(timeout_);
  timer_.async_wait([self = shared_from_this(), otherwise](const std::error_code& error) {
    // One that had expired cannot be canceled any more: it sees that the timer was set anew.
    if (error || self->timer_.expiry() > std::chrono::steady_clock::now()) return;
    if (self->peer_ == nullptr || self->fetches_ > 0) self->fail(otherwise, "shm: the peer did not answer in time");
  });
}

void Session::fetch(uint64_t id) {
  if (owner_ == nullptr) return;
  if (fetches_++ == 0) awaitAnswer(Reason::kPeerLost);
  send(FrameType::kFetch, id);
}

void Session::connect() {
  const SocketAddress address(answer_.name);
  int rc = 0;
  do {
    rc = ::connect(connecting_.get(), address.get(), address.length);
  } while (rc != 0 && errno == EINTR);
  if (rc != 0 && errno == EAGAIN) {
    retry_.expires_after(kRetryTime);
    retry_.async_wait([self = shared_from_this()](const std::error_code& error) {
      if (!error && self->owner_ != nullptr) self->connect();
    });
    return;
  }
  if (rc != 0 && errno == ECONNREFUSED) {
    return fail(Reason::kPeerUnreachable,
                "shm: nobody listens: the peer has ended, or is on another machine or in another network namespace");
  }
  if (rc != 0) return fail(errorOfSystem(Reason::kPeerUnreachable, "shm: connect", errno));
  const auto credentials = credentialsOf(connecting_.get());
  if (!credentials) return fail(credentials.error());
  if (credentials->uid != geteuid()) {
    return fail(Reason::kAuthFailed, fmt::format("shm: the peer runs as user {} and this process as user {}; shm "
                                                 "works between processes of one user",
                                                 credentials->uid, geteuid()));
  }
  credentials_ = *credentials;
  socket_.emplace(loop_.context(), connecting_.release());
  send(FrameType::kHello, 0, answer_.ticket);
  receive();
}

void Session::shut() {
  if (owner_ == nullptr) return;
  const std::shared_ptr<SessionOwner> owner = std::exchange(owner_, nullptr);
  timer_.cancel();
  retry_.cancel();
  if (socket_) ::shutdown(socket_->native_handle(), SHUT_RDWR);
  // Threads that copy may still look at the descriptors of the peer; before there is a peer they are ours alone.
  if (peer_ != nullptr && socket_) socket_->release();
  if (process_) process_->release();
  socket_.reset();
  process_.reset();
  connecting_.reset();
  peer_.reset();
}

void Session::fail(const Error& why) {
  const std::shared_ptr<SessionOwner> owner = owner_;
  if (owner != nullptr) owner->failed(why);
}

void Session::fail(Reason reason, const std::string& why) {
  fail(errorOf(reason, why));
}

void Session::receive() {
  if (!socket_) return;
  socket_->async_wait(asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const std::error_code& error) {
                        if (self->owner_ == nullptr || error) return;
                        self->take(receiveFrame(self->socket_->native_handle()));
                        self->receive();
                      });
}

void Session::watchProcess() {
  process_.emplace(loop_.context(), peer_->pidfd());
  // A child that the peer forked may hold the socket open for longer than the peer lives.
  process_->async_wait(asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](const std::error_code& error) {
                         if (!error) self->fail(Reason::kPeerLost, "shm: the peer's process has ended");
                       });
}

void Session::take(Received received) {
  if (received.kind == Received::Kind::kNothing) return;
  if (received.kind == Received::Kind::kEnd) {
    return peer_ != nullptr ? fail(Reason::kPeerLost, "shm: the peer has ended or closed the connection")
                            : fail(Reason::kPeerUnreachable, "shm: the peer closed the connection before it answered");
  }
  const Frame& frame = received.frame;
  if (peer_ == nullptr) {
    if (frame.type == FrameType::kWelcome) return welcome(frame);
    return frame.type == FrameType::kRefused
               ? fail(Reason::kAuthFailed, "shm: the peer refused the ticket; it works once and for 30 s")
               : fail(Reason::kIoError, "shm: the peer answers nonsense; is it another version?");
  }
  switch (frame.type) {
    case FrameType::kRegion:
    case FrameType::kNoRegion:
      if (fetches_ == 0) break;
      timer_.cancel();
      if (--fetches_ > 0) awaitAnswer(Reason::kPeerLost);
      return owner_->fetched(frame, std::move(received.passed), received.passed_lost);
    case FrameType::kRevoked: return owner_->revoked(frame.id);
    default: break;
  }
  fail(Reason::kIoError, "shm: the peer answers nonsense; is it another version?");
}

void Session::welcome(const Frame& frame) {
  timer_.cancel();
  // The peer owns the descriptor from here, and socket_ only waits for it.
  Fd socket(socket_->release());
  peer_ = std::make_shared<PeerProcess>(std::move(socket), credentials_, frame.base, frame.secret);
  socket_->assign(peer_->socket());
  // Not for as long as the link lives: the next one finds descriptors again.
  if (peer_->copyRefusal().reason == Reason::kResourceExhausted) return fail(peer_->copyRefusal());
  if (peer_->pidfd() >= 0) watchProcess();
  owner_->ready(peer_);
}

void Session::send(FrameType type, uint64_t id, const Secret& secret) {
  if (owner_ == nullptr) return;
  Frame frame;
  frame.type = type;
  frame.id = id;
  frame.secret = secret;
  outgoing_.push_back(frame);
  if (!sending_) flush();
}

void Session::flush() {
  while (socket_ && !outgoing_.empty()) {
    const SendResult result = sendFrame(socket_->native_handle(), outgoing_.front());
    // What a peer said before it hung up is still there to be read; reading finds the end.
    if (result == SendResult::kFailed) return outgoing_.clear();
    if (result == SendResult::kWouldBlock) {
      sending_ = true;
      socket_->async_wait(asio::posix::stream_descriptor::wait_write,
                          [self = shared_from_this()](const std::error_code& error) {
                            self->sending_ = false;
                            if (!error) self->flush();
                          });
      return;
    }
    outgoing_.pop_front();
  }
}

}  // namespace tent::shm
