// One connection to an engine's control channel: lets the peer prove that it has the token, then answers what it asks.
//
// Until then it is a stranger: it learns nothing, and has two seconds. Where the engine has no token on purpose, a
// stranger is who has not sent a whole request yet. Afterwards it may be silent for as long as it likes, but not in the
// middle of a request, nor of taking an answer.
//
// Thread safety: the control loop's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "engine/control_stream.h"
#include "engine/engine.h"
#include "engine/staging_guest.h"
#include "engine/wire.h"
#include "transport/loop.h"

namespace tent {

// What an engine answers with. Called on the loop's thread.
struct ControlHandlers {
  uint64_t instance = 0;  // put into every answer
  std::function<PeerDescription()> describe;
  std::function<tl::expected<std::string, Error>(Transport transport, std::string_view offer)> answer;
  // Takes a notification of the engine at `from`.
  std::function<Error(std::string_view from, Notification notification)> notify;
  // A reader of the range, where peers may read it: each call does a bounded piece of work; true sets the checksum.
  // Ends with out_of_range when the memory is being unregistered.
  using ChecksumSteps = std::function<tl::expected<bool, Error>(uint64_t& checksum)>;
  std::function<tl::expected<ChecksumSteps, Error>(uint64_t address, uint64_t length)> begin_checksum;
  // What a session has of the staging buffers, from its first request for some.
  std::function<std::shared_ptr<StagingGuest>()> admit_to_staging;
};

class ControlSession : public std::enable_shared_from_this<ControlSession> {
 public:
  static constexpr uint64_t kStrangerTimeNs = 2'000'000'000;
  static constexpr uint64_t kFrameTimeNs = 30'000'000'000;

  // `loop` outlives it.
  ControlSession(Loop& loop, std::shared_ptr<const ControlSecurity> security,
                 std::shared_ptr<const ControlHandlers> handlers);

  // To be connected before serve().
  asio::ip::tcp::socket& socket() { return stream_.socket(); }

  // Until the connection ends. `admit` is called once it is a stranger no more; false: there is no room for it.
  asio::awaitable<void> serve(std::function<bool()> admit);
  void close();

  uint64_t ageNs() const { return monotonicNowNs() - since_ns_; }

 private:
  asio::awaitable<void> exchange(std::function<bool()> admit);
  asio::awaitable<Message> answer(Message request);
  asio::awaitable<Message> answerChecksums(Message request);
  asio::awaitable<Message> answerStaging(Message request);
  void limit(uint64_t ns);
  void unlimit() { timer_.cancel(); }

  Loop& loop_;
  const uint64_t since_ns_ = monotonicNowNs();
  const std::shared_ptr<const ControlSecurity> security_;
  const std::shared_ptr<const ControlHandlers> handlers_;
  ControlStream stream_;
  asio::steady_timer timer_;
  std::shared_ptr<StagingGuest> guest_;
};

}  // namespace tent
