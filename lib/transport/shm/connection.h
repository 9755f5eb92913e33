// One peer that is connected to the target: shows its ticket, then asks for regions.
//
// Thread safety: none, lives on the loop's thread. Keeps itself alive while it waits for its socket.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_set>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/fd.h"
#include "transport/shm/target.h"
#include "transport/shm/wire.h"

namespace tent::shm {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Target> target, Fd socket);

  void start();
  bool proven() const { return proven_; }
  // Asks the peer to let go of a region, if it was given it: true when an answer is to come (Target::released).
  bool revoke(uint64_t id);
  void close();

 private:
  void receive();
  void take(const Frame& frame);
  void send(const Frame& frame);
  void flush();
  void released(uint64_t id);

  std::shared_ptr<Target> target_;  // until closed
  asio::posix::stream_descriptor socket_;
  asio::steady_timer proof_timer_;
  bool proven_ = false;
  bool receiving_ = false;
  bool sending_ = false;  // waits for room in the socket
  std::deque<Frame> outgoing_;
  std::unordered_set<uint64_t> given_;
  std::unordered_set<uint64_t> revoked_;  // of which the release is awaited
};

}  // namespace tent::shm
