// The initiator's end of the socket to a target: connects, shows the ticket, examines the peer, and passes on what the
// target says later.
//
// Thread safety: none, lives on the loop's thread. Keeps itself and its owner alive until shut.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "transport/loop.h"
#include "transport/shm/peer_process.h"
#include "transport/shm/wire.h"

namespace tent::shm {

// What a session tells its owner, on the loop's thread.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;
  virtual void ready(std::shared_ptr<const PeerProcess> peer) = 0;
  // The answer to fetch(). `passed`: the memfd of a region that the peer's engine allocated; `passed_lost`: one was
  // sent, but this process had no room for it.
  virtual void fetched(const Frame& frame, Fd passed, bool passed_lost) = 0;
  // The target takes the region back: release(id) once nothing uses it any more.
  virtual void revoked(uint64_t id) = 0;
  // peer_unreachable, auth_failed, peer_lost. The owner shuts the session.
  virtual void failed(const Error& why) = 0;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Loop& loop, const Answer& answer, std::chrono::nanoseconds timeout);

  void start(std::shared_ptr<SessionOwner> owner);
  // A target that does not answer in time is taken as lost.
  void fetch(uint64_t id);
  void release(uint64_t id) { send(FrameType::kReleased, id); }
  // Hangs up, and lets go of the owner.
  void shut();

 private:
  void connect();
  void awaitAnswer(Reason otherwise);
  void receive();
  void watchProcess();
  void take(Received received);
  void welcome(const Frame& frame);
  void send(FrameType type, uint64_t id, const Secret& secret = {});
  void flush();
  void fail(const Error& why);
  void fail(Reason reason, const std::string& why);

  Loop& loop_;
  const Answer answer_;
  const std::chrono::nanoseconds timeout_;
  std::shared_ptr<SessionOwner> owner_;  // until shut
  asio::steady_timer timer_;             // of the answer that is awaited
  uint32_t fetches_ = 0;                 // not answered yet
  asio::steady_timer retry_;
  Fd connecting_;  // before it is handed to socket_
  PeerCredentials credentials_;
  std::shared_ptr<const PeerProcess> peer_;  // owns the descriptors that the next two wait for
  std::optional<asio::posix::stream_descriptor> socket_;
  std::optional<asio::posix::stream_descriptor> process_;
  bool sending_ = false;  // waits for room in the socket
  std::deque<Frame> outgoing_;
};

}  // namespace tent::shm
