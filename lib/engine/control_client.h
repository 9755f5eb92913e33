// The asking end of the control channel to one peer: connects when it is first needed, and again after the connection
// was lost, each time with proof both ways that the two ends have the same token, unless this engine has none on
// purpose.
//
// Thread safety: all members may be called from any thread. Exchanges with one peer run one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <tl/expected.hpp>

#include "engine/control_security.h"
#include "engine/wire.h"
#include "transport/loop.h"

namespace tent {

class ControlClient {
 public:
  using Done = std::function<void(tl::expected<Message, Error>)>;

  // `name`: of the peer, for messages. `endpoints`: of which the first that answers is connected to; at least one.
  // `loop` outlives it.
  ControlClient(Loop& loop, std::string name, std::vector<asio::ip::tcp::endpoint> endpoints,
                std::shared_ptr<const ControlSecurity> security);
  // Ends what is going on with canceled.
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;
  ~ControlClient();

  // The numeric address that was connected to last: of a name that has several, where the peer that answers is.
  std::string host() const;

  // Calls `done` once, on the loop's thread: with the answer, with the error that the peer answered, or with
  // auth_failed, peer_unreachable, timeout, peer_lost or resource_exhausted. `timeout_ns` counts from the exchange's
  // turn.
  void exchange(const Message& request, uint64_t timeout_ns, Done done);
  // The same, waited for. Not on the loop's thread.
  tl::expected<Message, Error> ask(const Message& request, uint64_t timeout_ns);

  void close();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tent
