// The way to the staging buffers of one peer: a control connection of its own, and the lease that the peer gives on it.
//
// Thread safety: all members on the staging loop's thread, which also tells the answers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/control_client.h"
#include "engine/staging_messages.h"
#include "transport/loop.h"

namespace tent {

class StagingChannel : public std::enable_shared_from_this<StagingChannel> {
 public:
  // `loop` and `control_loop` outlive it. `wait_ns`: what the peer may wait with its answer for buffers.
  StagingChannel(Loop& loop, std::unique_ptr<ControlClient> client, uint64_t timeout_ns, uint64_t wait_ns)
      : loop_(loop), client_(std::move(client)), timeout_ns_(timeout_ns), wait_ns_(wait_ns) {}

  // nullptr: none, or the lease is being asked for.
  const std::shared_ptr<const LentBuffers>& lent() const { return lent_; }
  bool isAsked() const { return asked_; }
  // No chunk is to be begun on this lease any more.
  bool mustReturn() const { return must_return_; }
  void markForReturn() { must_return_ = true; }

  // Asks for a lease, of the process of this `instance` (stale_segment: another one answers). While there is none.
  void ask(const StageOpen& wanted, uint64_t instance, const std::string& peer_name, std::function<void(Error)> done);
  // Gives the lease back. The peer frees its memory, so that nothing of it may be in use.
  void giveBack();

  // A chunk of the lease, as its offset; nothing while all are in use. Put back once nobody can write it any more.
  std::optional<uint64_t> take();
  void putBack(const std::shared_ptr<const LentBuffers>& of, uint64_t offset);

  // The answer may be a refusal (isRefusal) of that copy. After any other failure nothing is known of it; the
  // lease is marked for return.
  void copy(const StageCopy& copy, std::function<void(Error)> done);
  static bool isRefusal(const Error& error);

  // Ends what is being asked with canceled.
  void close() { client_->close(); }

 private:
  Error taken(const tl::expected<Message, Error>& answer, const StageOpen& wanted, uint64_t instance,
              const std::string& peer_name);
  Error copied(const tl::expected<Message, Error>& answer, const StageCopy& copy);

  Loop& loop_;
  const std::unique_ptr<ControlClient> client_;
  const uint64_t timeout_ns_;
  const uint64_t wait_ns_;
  bool asked_ = false;
  bool must_return_ = false;
  std::shared_ptr<const LentBuffers> lent_;
  std::vector<uint64_t> free_;  // offsets
};

}  // namespace tent
