// The listening end of the control channel: answers what peers ask about this engine's segment.
//
// Runs on the loop it is given. Thread safety: constructed, stopped and destroyed by the engine; the answers are asked
// for on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/wire.h"
#include "transport/loop.h"

namespace tent {

class ControlServer {
 public:
  // Called on the loop's thread, from start() on.
  struct Handlers {
    uint64_t instance = 0;  // put into every answer
    std::function<PeerDescription()> describe;
    std::function<tl::expected<std::string, Error>(Transport transport, std::string_view offer)> answer;
    // Takes a notification of the engine at `from`.
    std::function<Error(std::string_view from, Notification notification)> notify;
    // A reader of the range, where peers may read it: each call does a bounded piece of work; true sets the checksum.
    std::function<tl::expected<std::function<bool(uint64_t& checksum)>, Error>(uint64_t address, uint64_t length)>
        begin_checksum;
  };

  // Listens at once, so that the address is known; peers wait until start(). io_error names the address, and what to do
  // when it is taken.
  static tl::expected<std::unique_ptr<ControlServer>, Error> listen(Loop& loop, const std::string& host, uint16_t port,
                                                                    Handlers handlers);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // The address as bound, for peers to use: "127.0.0.1:4711", "[::1]:4711".
  const std::string& address() const;
  const std::string& bindAddress() const;  // numeric, without the port
  bool isLoopback() const;

  void start();
  // Ends all sessions. Before the loop ends.
  void stop();

 private:
  struct State;
  explicit ControlServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
  bool stopped_ = false;
};

}  // namespace tent
