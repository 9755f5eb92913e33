// The listening end of the control channel: answers what peers ask about this engine's segment. Of those who have not
// shown yet that they are peers there are 64 at most; what they do costs bounded memory and time, and disturbs no
// other.
//
// Runs on the loop it is given. Thread safety: constructed, stopped and destroyed by the engine; the answers are asked
// for on the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "base/error.h"
#include "engine/control_security.h"
#include "engine/control_session.h"
#include "transport/loop.h"

namespace tent {

class ControlServer {
 public:
  // Listens at once, so that the address is known; peers wait until start(). io_error names the address, and what to do
  // when it is taken; resource_exhausted what has run out.
  static tl::expected<std::unique_ptr<ControlServer>, Error> listen(Loop& loop, const std::string& host, uint16_t port,
                                                                    ControlHandlers handlers);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // The address as bound, for peers to use: "127.0.0.1:4711", "[::1]:4711".
  const std::string& address() const;
  const std::string& bindAddress() const;  // numeric, without the port
  bool isLoopback() const;

  void start(std::shared_ptr<const ControlSecurity> security);
  // Ends all sessions: none of them asks or holds anything of the engine any more. Before the loop ends, not on it.
  void stop();

 private:
  struct State;
  explicit ControlServer(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
  bool stopped_ = false;
};

}  // namespace tent
