#include "transport/shm/connection.h"

#include <chrono>
#include <utility>

namespace tent::shm {
namespace {

constexpr auto kProofTime = std::chrono::seconds(2);

}  // namespace

Connection::Connection(std::shared_ptr<Target> target, Fd socket)
    : target_(std::move(target)),
      socket_(target_->loop_.context(), socket.release()),
      proof_timer_(target_->loop_.context()) {}

void Connection::start() {
  proof_timer_.expires_after(kProofTime);
  proof_timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (!error && !self->proven_) self->close();
  });
  receive();
}

void Connection::close() {
  if (target_ == nullptr) return;
  const std::shared_ptr<Target> target = std::exchange(target_, nullptr);
  std::error_code ignored;
  proof_timer_.cancel();
  socket_.close(ignored);
  // A peer that is gone holds nothing any more.
  for (const uint64_t id : revoked_) target->released(id);
  revoked_.clear();
  target->forget(shared_from_this());
}

void Connection::receive() {
  // While the peer does not take our answers, its next requests wait in the socket: nothing piles up here.
  if (receiving_ || target_ == nullptr || !outgoing_.empty()) return;
  receiving_ = true;
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const std::error_code& error) {
                       self->receiving_ = false;
                       if (self->target_ == nullptr) return;
                       if (error) return self->close();
                       const Received received = receiveFrame(self->socket_.native_handle());
                       if (received.kind == Received::Kind::kEnd) return self->close();
                       if (received.kind == Received::Kind::kFrame) self->take(received.frame);
                       self->receive();
                     });
}

void Connection::take(const Frame& frame) {
  if (!proven_) {
    Frame reply;
    if (frame.type != FrameType::kHello || !target_->useTicket(frame.secret)) {
      reply.type = FrameType::kRefused;
      send(reply);
      return close();
    }
    proven_ = true;
    proof_timer_.cancel();
    reply.type = FrameType::kWelcome;
    reply.base = reinterpret_cast<uintptr_t>(target_->nonce_.data());
    reply.secret = target_->nonce_;
    return send(reply);
  }
  if (frame.type == FrameType::kFetch) return send(frame);  // becomes its answer when it can be sent
  if (frame.type == FrameType::kReleased) return released(frame.id);
  close();
}

bool Connection::revoke(uint64_t id) {
  if (given_.erase(id) == 0 || target_ == nullptr) return false;
  revoked_.insert(id);
  Frame frame;
  frame.type = FrameType::kRevoked;
  frame.id = id;
  send(frame);
  // A failure to send has closed the connection, which counts as released.
  return true;
}

void Connection::released(uint64_t id) {
  if (revoked_.erase(id) > 0) target_->released(id);
}

void Connection::send(const Frame& frame) {
  outgoing_.push_back(frame);
  if (!sending_) flush();
}

void Connection::flush() {
  while (target_ != nullptr && !outgoing_.empty()) {
    const Frame& frame = outgoing_.front();
    bool given = false;
    const SendResult result = frame.type == FrameType::kFetch
                                  ? target_->sendRegion(socket_.native_handle(), frame.id, given)
                                  : sendFrame(socket_.native_handle(), frame);
    if (result == SendResult::kFailed) return close();
    if (result == SendResult::kWouldBlock) {
      sending_ = true;
      socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                         [self = shared_from_this()](const std::error_code& error) {
                           self->sending_ = false;
                           if (self->target_ == nullptr) return;
                           if (error) return self->close();
                           self->flush();
                           self->receive();
                         });
      return;
    }
    if (given) given_.insert(frame.id);
    outgoing_.pop_front();
  }
}

}  // namespace tent::shm
