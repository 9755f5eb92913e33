#include "engine/control_security.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include "auth/key.h"
#include "auth/token.h"
#include "auth/user_token.h"
#include "base/text.h"
#include "engine/wire.h"

namespace tent {
namespace {

tl::unexpected<Error> refuse(std::string detail) {
  return tl::unexpected(errorOf(Reason::kBadConfiguration, std::move(detail)));
}

std::shared_ptr<const ControlSecurity> securityOf(const Token& token) {
  // Engines of another version of the protocol have another key too, and so are told apart before a frame is read.
  const std::string name = fmt::format("tent-control/{}", kProtocolVersion);
  DerivedKey key = deriveKey(token, name + " tls13-psk");
  auto security = std::make_shared<ControlSecurity>();
  security->client = std::make_unique<const TlsContext>(TlsContext::Role::kClient, key, name);
  security->server = std::make_unique<const TlsContext>(TlsContext::Role::kServer, key, name);
  security->token_path = escapeForTerminal(token.path());
  OPENSSL_cleanse(key.data(), key.size());
  return security;
}

}  // namespace

tl::expected<std::shared_ptr<const ControlSecurity>, Error> secureControl(const AuthSettings& auth, bool loopback,
                                                                          const std::string& host) {
  if (auth.mode == AuthSettings::Mode::kNone) {
    if (auth.token_file) return refuse("auth: a token_file is of no use with mode \"none\": remove one of the two");
    if (auth.encrypt_data) return refuse("auth: encrypt_data needs keys, and mode \"none\" has none: use a token");
    return std::make_shared<const ControlSecurity>();
  }
  if (!auth.token_file && !loopback) {
    return refuse(
        fmt::format("rpc_server_hostname: {} can be reached from other machines: let in who has a token, by "
                    "auth.token_file, or bind to a loopback address, or accept by auth.mode \"none\" that everybody "
                    "there may read and write what is registered for peers",
                    host));
  }
  auto token = auth.token_file ? readToken(*auth.token_file) : userToken();
  if (!token) {
    if (auth.token_file) token.error().detail = "auth.token_file: " + token.error().detail;
    return tl::unexpected(std::move(token.error()));
  }
  return securityOf(*token);
}

}  // namespace tent
