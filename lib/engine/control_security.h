// What the control channels of an engine are secured with: the token, or nothing where the configuration says so.
//
// Thread safety: immutable once made.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "base/error.h"
#include "config/engine_config.h"
#include "transport/tls.h"

namespace tent {

struct ControlSecurity {
  // Both or neither.
  std::unique_ptr<const TlsContext> client;
  std::unique_ptr<const TlsContext> server;
  std::string token_path;  // for messages

  bool isOpen() const { return client == nullptr; }
};

// As `auth` asks: the token of its file; where it names none and the engine listens on a loopback address, the user's
// (auth/user_token.h); nothing with mode none. bad_configuration: the token is not good, what `auth` asks contradicts
// itself, or the engine could be reached from other machines and has neither a token nor mode none. `host` is where it
// listens, for that message.
tl::expected<std::shared_ptr<const ControlSecurity>, Error> secureControl(const AuthSettings& auth, bool loopback,
                                                                          const std::string& host);

}  // namespace tent
