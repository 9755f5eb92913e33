// What one control connection has of this engine's staging buffers: the lease that its peer was given, the copies that
// it asks for, and the end of the lease, with the connection or after silence.
//
// Thread safety: the control loop's thread only.
#pragma once

#include <cstdint>
#include <memory>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "engine/staging_pool.h"
#include "engine/wire.h"

namespace tent {

class StagingGuest : public std::enable_shared_from_this<StagingGuest> {
 public:
  // `pool` outlives it.
  explicit StagingGuest(StagingPool& pool);
  ~StagingGuest();
  StagingGuest(const StagingGuest&) = delete;
  StagingGuest& operator=(const StagingGuest&) = delete;

  // Answers a request of a type that begins with "stage_"; the guest is there until then.
  asio::awaitable<Message> answer(Message request);
  // Ends the lease, and what is being answered.
  void leave();

 private:
  asio::awaitable<Message> open(StageOpen wanted);
  asio::awaitable<Message> copy(StageCopy copy);
  Message close(const Message& request);
  void endLease();
  void endAfterSilence();

  StagingPool& pool_;
  bool left_ = false;
  std::shared_ptr<StagingPool::Lease> lease_;
  asio::steady_timer turn_;     // of a request that waits
  asio::steady_timer silence_;  // of the holder
};

}  // namespace tent
