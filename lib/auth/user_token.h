// The token that all engines of one user on this machine share where no other is configured: made when it is first
// needed, 32 random bytes in a file of mode 0600.
//
// It lies at $XDG_STATE_HOME/tent/token, without that variable at ~/.local/state/tent/token, where home is $HOME, or
// what the user database says. Not below $XDG_RUNTIME_DIR: a user's services, jobs and shells do not all have the same
// one, and those that have none could not reach those that have.
//
// Thread safety: any thread; any number of processes at once, which all get the same token.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "auth/token.h"
#include "base/error.h"

namespace tent {

// Where it is, or would be made. bad_configuration where the user has no home.
tl::expected<std::string, Error> userTokenPath();

// Reads it, and makes it before where there is none. bad_configuration: one that is there is not good, or none can be
// made; the message names `auth.token_file` and `auth.mode`, the ways out. resource_exhausted for want of a descriptor.
tl::expected<Token, Error> userToken();

}  // namespace tent
