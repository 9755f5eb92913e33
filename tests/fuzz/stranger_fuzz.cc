// What comes from those who have proved nothing yet: the first bytes of a data connection, which may be a TLS handshake
// or a ticket, and of a control connection, which is a handshake; and the file of a token, which somebody else may have
// written.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <asio/io_context.hpp>

#include "auth/token.h"
#include "base/fd.h"
#include "support/temporary_folder.h"
#include "transport/tcp/server_stranger.h"
#include "transport/tls.h"

namespace {

const tent::TlsKey kKey{7};

// `theirs` has what was sent, and then nothing more comes.
struct Ends {
  Ends(const uint8_t* data, size_t size) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
    if (write(ours.get(), data, size) != static_cast<ssize_t>(size)) return;
    shutdown(ours.get(), SHUT_WR);
  }
  tent::Fd ours;
  tent::Fd theirs;
};

void openData(const uint8_t* data, size_t size) {
  using namespace tent::tcp;
  static const auto context =
      std::make_shared<const tent::TlsContext>(tent::TlsContext::Role::kServer, kKey, kTlsIdentity);
  Ends ends(data, size);
  asio::io_context loop;
  Socket socket(loop, asio::ip::tcp::v4(), ends.theirs.release());
  const auto stranger = std::make_shared<ServerStranger>(std::move(socket), context);
  bool done = false;
  stranger->start([](const tent::Ticket&, bool) { return false; },
                  [&](const std::shared_ptr<ServerStranger>&, bool admitted) {
                    if (admitted || done) std::abort();  // nobody has a ticket
                    done = true;
                  });
  loop.poll();
  stranger->close();
  loop.poll();
}

void openControl(const uint8_t* data, size_t size) {
  static const tent::TlsContext context(tent::TlsContext::Role::kServer, kKey, "tent-control/1");
  const Ends ends(data, size);
  tent::TlsSession session(context, ends.theirs.get());
  if (session.handshake() == tent::TlsStatus::kDone) std::abort();  // nobody has the key
}

void readTokenFile(const uint8_t* data, size_t size) {
  static const tent::TemporaryFolder folder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto token = tent::readToken(folder.write("token", text));
  if (token && token->bytes() != std::vector<unsigned char>(data, data + size)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  switch (data[0] % 3) {
    case 0: openData(data + 1, size - 1); break;
    case 1: openControl(data + 1, size - 1); break;
    default: readTokenFile(data + 1, size - 1); break;
  }
  return 0;
}
